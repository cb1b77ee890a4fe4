#include "workers/trainer/csv_table.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/json.hpp"
#include "base/number_text.hpp"

namespace tidepool::trainer {
namespace {

std::string_view trimmed(std::string_view field) {
  const auto begin = field.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return field.substr(begin, field.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

std::optional<float> to_number(std::string_view field) {
  const auto number = parse_number<float>(field);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

struct Line {
  std::size_t number = 0;  // line in the file, from 1
  std::vector<std::string_view> fields;
};

// The index of the label column.
Result<std::size_t> find_label(const Line& first, bool has_header, const std::string& label) {
  if (label.empty()) return first.fields.size() - 1;
  if (!has_header) return invalid_argument("label \"" + label + "\" names a column, but the file has no header line");
  const auto found = std::find(first.fields.begin(), first.fields.end(), label);
  if (found != first.fields.end()) return static_cast<std::size_t>(found - first.fields.begin());
  const auto near = nearest_word(label, {first.fields.begin(), first.fields.end()});
  return invalid_argument("the file has no column \"" + label + "\"" +
                          (near ? ": did you mean \"" + *near + "\"?" : ""));
}

// Scales each column to mean 0 and deviation 1; a constant column becomes zeros.
void standardise(CsvTable& table) {
  const auto width = static_cast<std::size_t>(table.features);
  const double rows = static_cast<double>(table.classes.size());
  for (std::size_t column = 0; column < width; ++column) {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = column; i < table.values.size(); i += width) sum += static_cast<double>(table.values[i]);
    const double mean = sum / rows;
    for (std::size_t i = column; i < table.values.size(); i += width) {
      squares += std::pow(static_cast<double>(table.values[i]) - mean, 2);
    }
    const double deviation = std::sqrt(squares / rows);
    const double scale = deviation > 1e-12 ? 1.0 / deviation : 0.0;
    for (std::size_t i = column; i < table.values.size(); i += width) {
      table.values[i] = static_cast<float>((static_cast<double>(table.values[i]) - mean) * scale);
    }
  }
}

Status add_row(const Line& line, std::size_t label, CsvTable& table, std::vector<std::string>& labels) {
  for (std::size_t column = 0; column < line.fields.size(); ++column) {
    if (column == label) {
      labels.emplace_back(line.fields[column]);
      continue;
    }
    const auto number = to_number(line.fields[column]);
    if (!number) {
      return invalid_argument("line " + std::to_string(line.number) + ": \"" + std::string(line.fields[column]) +
                              "\" in column " + std::to_string(column + 1) + " is not a number");
    }
    table.values.push_back(*number);
  }
  return ok_status();
}

}  // namespace

Result<CsvTable> read_csv(std::string_view text, const std::string& label) {
  std::vector<Line> lines;
  std::size_t number = 0;
  for (const std::string_view row : split(text, '\n')) {
    ++number;
    if (!row.empty()) lines.push_back({number, split(row, ',')});
  }
  if (lines.empty()) return invalid_argument("the file has no rows");
  const std::size_t width = lines.front().fields.size();
  if (width < 2) return invalid_argument("the file has one column; it needs features and a label, separated by commas");
  const auto& first = lines.front().fields;
  const bool has_header = std::any_of(first.begin(), first.end() - 1, [](auto field) { return !to_number(field); });
  const auto column = find_label(lines.front(), has_header, label);
  if (!column.ok()) return column.error();

  CsvTable table;
  table.features = static_cast<int>(width) - 1;
  std::vector<std::string> labels;
  for (std::size_t i = has_header ? 1 : 0; i < lines.size(); ++i) {
    if (lines[i].fields.size() != width) {
      return invalid_argument("line " + std::to_string(lines[i].number) + " has " +
                              std::to_string(lines[i].fields.size()) + " fields, the first has " +
                              std::to_string(width));
    }
    TP_TRY(add_row(lines[i], *column, table, labels));
  }
  table.class_names = labels;
  std::sort(table.class_names.begin(), table.class_names.end());
  table.class_names.erase(std::unique(table.class_names.begin(), table.class_names.end()), table.class_names.end());
  if (table.class_names.size() < 2) return invalid_argument("the label column needs at least two different classes");
  for (const std::string& name : labels) {
    const auto place = std::lower_bound(table.class_names.begin(), table.class_names.end(), name);
    table.classes.push_back(static_cast<int>(place - table.class_names.begin()));
  }
  standardise(table);
  return table;
}

}  // namespace tidepool::trainer
