#include "studies/replay/csv_columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/number_text.hpp"
#include "sim/text_lines.hpp"

namespace tidepool::sim {
namespace {

std::string place(int line, const std::string& file) {
  return file + " line " + std::to_string(line);
}

template <class Number>
Result<Number> parsed(std::string_view cell, int line, const std::string& file, const char* expected) {
  if (const auto number = parse_number<Number>(cell)) return *number;
  return invalid_argument(place(line, file) + ": \"" + std::string(cell) + "\" is not " + expected);
}

}  // namespace

Result<std::vector<CsvRow>> read_csv_columns(std::string_view text, const std::vector<std::string_view>& columns,
                                             const std::string& file) {
  const std::vector<std::string_view> header = header_cells(take_line(text));
  std::vector<std::size_t> at;
  for (const std::string_view column : columns) {
    const auto found = column_at(header, column);
    if (!found) {
      return invalid_argument(file + ": the first line names no column \"" +
                              std::string(cells_of(column, '|').front()) + "\"");
    }
    at.push_back(*found);
  }
  std::vector<CsvRow> rows;
  for (int line = 2; !text.empty(); ++line) {
    const std::string_view content = take_line(text);
    if (content.empty()) continue;
    const std::vector<std::string_view> cells = cells_of(content);
    if (cells.size() != header.size()) {
      return invalid_argument(place(line, file) + ": " + std::to_string(cells.size()) + " cells, the first line has " +
                              std::to_string(header.size()));
    }
    CsvRow row{.line = line, .cells = {}};
    for (const std::size_t column : at) {
      row.cells.push_back(trimmed(cells[column]));
      if (row.cells.back().starts_with('"')) {
        return invalid_argument(place(line, file) + ": CSV in quotes is not read: write it without");
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<double> csv_number(std::string_view cell, int line, const std::string& file) {
  auto number = parsed<double>(cell, line, file, "a number");
  if (number && !std::isfinite(*number)) return invalid_argument(place(line, file) + ": a number must be finite");
  return number;
}

Result<double> csv_seconds(std::string_view cell, int line, const std::string& file) {
  auto seconds = csv_number(cell, line, file);
  if (seconds && !(*seconds >= 0 && *seconds <= kCsvSecondsMax)) {
    return invalid_argument(place(line, file) + ": \"" + std::string(cell) + "\" is no time from 0 s to ten years");
  }
  return seconds;
}

Result<int> csv_count(std::string_view cell, int line, const std::string& file) {
  const auto number = parsed<double>(cell, line, file, "a whole number");
  if (!number) return number.error();
  if (*number < 0) return invalid_argument(place(line, file) + ": a count must not be negative");
  if (!(*number <= std::numeric_limits<int>::max()) || *number != std::floor(*number)) {
    return invalid_argument(place(line, file) + ": \"" + std::string(cell) + "\" is not a whole number below 2^31");
  }
  return static_cast<int>(*number);
}

Result<int> csv_positive(std::string_view cell, int line, const std::string& file) {
  auto count = csv_count(cell, line, file);
  if (count.ok() && *count < 1) return invalid_argument(place(line, file) + ": a count must be above 0");
  return count;
}

Status csv_new_name(std::set<std::string>& names, const std::string& name, int line, const std::string& file) {
  if (names.insert(name).second) return ok_status();
  return invalid_argument(place(line, file) + ": the job \"" + name + "\" stands in a line above, too");
}

}  // namespace tidepool::sim
