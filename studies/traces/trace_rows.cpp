#include "studies/traces/trace_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/number_text.hpp"
#include "base/word_list.hpp"
#include "sim/text_lines.hpp"

namespace tidepool::sim {
namespace {

// Days from 1970-01-01 in the Gregorian calendar, counted in 400-year spans from the first of March of year 0.
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t of_era = year - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

// How far east of UTC the named zone is; nothing if that is no zone.
std::optional<std::int64_t> seconds_east(std::string_view zone) {
  if (zone.empty() || zone == "Z" || zone == " UTC") return 0;
  if (zone == " PST") return -8 * 3'600;
  if (zone == " PDT") return -7 * 3'600;
  if (zone[0] != '+' && zone[0] != '-') return std::nullopt;
  std::string digits(zone.substr(1));
  if (digits.size() == 5 && digits[2] == ':') digits.erase(2, 1);
  const bool right = digits.size() == 4 && digits.find_first_not_of("0123456789") == std::string::npos;
  if (!right) return std::nullopt;
  const int clock = std::stoi(digits);  // hours and minutes
  if (clock / 100 > 14 || clock % 100 > 59) return std::nullopt;
  const std::int64_t east = std::int64_t{clock / 100 * 60 + clock % 100} * 60;
  return zone[0] == '-' ? -east : east;
}

// Where each asked column stands in the first line; npos = it may be missing and is.
struct Header {
  std::vector<std::string> names;  // as messages call them
  std::vector<std::size_t> at;
  std::size_t cells = 0;
};

// What a first line lacks, in words; a reader that takes no other columns says which those are.
Error lacks(const std::vector<std::string>& missing, const TraceColumns& columns,
            const std::vector<std::string_view>& cells) {
  std::vector<std::string> there;
  there.reserve(cells.size());
  for (const std::string_view cell : cells) there.emplace_back(cell.substr(0, 40));
  std::vector<std::string> quoted;
  std::string guess;
  for (const std::string& name : missing) {
    const auto near = nearest_word(name, there);
    quoted.push_back("\"" + name + "\"");
    if (near && guess.empty()) guess = "; is it \"" + *near + "\"?";
  }
  std::string text = "the first line names no column " + word_series(quoted) + guess;
  const bool has_quotes = std::ranges::any_of(cells, [](std::string_view cell) { return cell.starts_with('"'); });
  if (has_quotes) text += "; CSV in quotes is not read: write it without";
  if (!columns.strict) return not_found(text);
  std::vector<std::string> needed;
  std::vector<std::string> optional;
  for (const std::string_view name : columns.names) {
    (name.ends_with('?') ? optional : needed).emplace_back(name.substr(0, name.find('?')));
  }
  return not_found(text + "; a trace needs " + word_series(needed) + ", and may have " + word_series(optional));
}

Result<Header> header_of(const TraceColumns& columns, std::string_view line) {
  Header header;
  std::vector<std::string_view> cells;
  if (columns.header) cells = header_cells(line, columns.separator);
  header.cells = columns.header ? cells.size() : columns.names.size();
  std::set<std::size_t> used;
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < columns.names.size(); ++i) {
    std::string& name = header.names.emplace_back(columns.names[i]);
    if (!columns.header) {
      header.at.push_back(i);
      continue;
    }
    const bool optional = name.ends_with('?');
    const std::string_view wanted = columns.names[i].substr(0, name.size() - (optional ? 1 : 0));
    const auto found = column_at(cells, wanted);
    name = found ? cells[*found] : cells_of(wanted, '|').front();
    if (!found && !optional) missing.push_back(name);
    header.at.push_back(found.value_or(std::string_view::npos));
    used.insert(header.at.back());
  }
  if (!missing.empty()) return lacks(missing, columns, cells);
  for (std::size_t i = 0; columns.strict && i < cells.size(); ++i) {
    if (used.contains(i)) continue;
    if (std::count(cells.begin(), cells.end(), cells[i]) > 1) {
      return invalid_argument("the column \"" + std::string(cells[i]) + "\" stands twice");
    }
    const auto near = nearest_word(cells[i], header.names);
    return invalid_argument("the column \"" + std::string(cells[i]) + "\" is none of a trace" +
                            (near ? "; did you mean \"" + *near + "\"?" : ""));
  }
  return header;
}

// Why a job cannot stand in a trace; empty = it can.
std::string fault_of(const TraceJob& job) {
  if (job.name.empty()) return "the job has no name";
  if (job.gpus < 1 || job.gpus > kTraceGpusMax) return "a job has 1 to " + std::to_string(kTraceGpusMax) + " GPUs";
  if (!(job.gpu_share > 0) || job.gpu_share > 1) return "a share of a GPU is above 0 and at most 1";
  if (!(job.duration_s > 0) || job.duration_s > kTraceSecondsMax)
    return "it should have run above 0 s, at most 10 years";
  return "";
}

// Without what a cell of CSV or a text in JSON cannot hold: U+FFFD stands for what is no UTF-8.
std::string plain(std::string text) {
  bool is_ascii = true;
  for (char& letter : text) {
    if (letter == ',' || letter == '"' || static_cast<unsigned char>(letter) < 0x20) letter = '_';
    is_ascii = is_ascii && static_cast<unsigned char>(letter) < 0x80;
  }
  return is_ascii ? text : nlohmann::json::parse(canonical_json(text)).get<std::string>();
}

double to_micros(double seconds) {
  return static_cast<double>(std::llround(seconds * 1e6)) / 1e6;
}

}  // namespace

std::string TraceRow::text(std::size_t column) {
  if (cells_[column].starts_with('"')) refuse_cell(column, "written without quotes");
  return plain(std::string(cells_[column]));
}

double TraceRow::number(std::size_t column, double low, double high) {
  const auto value = finite_number(cells_[column]);
  if (value && *value >= low && *value <= high) return *value;
  refuse_cell(column, "a number from " + short_text(low) + " to " + short_text(high));
  return low;
}

std::int64_t TraceRow::whole(std::size_t column, std::int64_t low, std::int64_t high) {
  const auto value = finite_number(cells_[column]);
  const bool inside = value && *value >= static_cast<double>(low) && *value <= static_cast<double>(high);
  if (inside && *value == std::floor(*value)) return static_cast<std::int64_t>(*value);
  refuse_cell(column, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return low;
}

double TraceRow::time(std::size_t column) {
  if (const auto seconds = seconds_of(cells_[column])) return *seconds;
  refuse_cell(column, "a time such as 2017-10-09 07:01:55, or a number of seconds");
  return 0;
}

void TraceRow::refuse(std::string why) {
  if (refused_.empty()) refused_ = std::move(why);
}

void TraceRow::leave_out(std::string why) {
  if (left_out_.empty()) left_out_ = std::move(why);
}

void TraceRow::refuse_cell(std::size_t column, const std::string& wanted) {
  refuse(names_[column] + " is \"" + std::string(cells_[column].substr(0, 40)) + "\"; it should be " + wanted);
}

Status TraceIntake::take(TraceEntry entry) {
  if (entry.refused.empty() && !entry.left_out.empty()) {
    ++trace_.left_out[entry.left_out];
    return ok_status();
  }
  TraceJob& job = entry.job;
  for (std::string* text : {&job.name, &job.tenant, &job.user, &job.gpu_type, &job.application}) {
    *text = plain(std::move(*text));
  }
  if (entry.refused.empty()) entry.refused = fault_of(job);
  if (entry.refused.empty() && !names_.insert(job.name).second) {
    entry.refused = "the name \"" + job.name + "\" is used twice";
  }
  if (entry.refused.empty()) {
    trace_.jobs.push_back(std::move(job));
    return ok_status();
  }
  const std::string what = file_ + " " + entry.place + ": " + entry.refused;
  if (!skip_bad_) return invalid_argument(what);
  if (++trace_.bad_count <= static_cast<std::int64_t>(kBadLinesKept)) trace_.bad_lines.push_back(what);
  return ok_status();
}

Result<Trace> TraceIntake::finish() && {
  TP_TRY(settle(trace_, file_));
  return std::move(trace_);
}

Result<Trace> read_trace_rows(const TraceText& input, const TraceColumns& columns, const ReadRow& read) {
  if (input.text.empty()) return invalid_argument(input.file + " is empty");
  std::string_view rest = input.text;
  const bool in_text = columns.header && columns.named_by.empty();
  const auto header = header_of(columns, in_text ? take_line(rest) : columns.named_by);
  if (!header) return invalid_argument(input.file + ": " + header.error().message);
  TraceIntake intake(input);
  for (int line = in_text ? 2 : 1; !rest.empty(); ++line) {
    const std::string_view content = take_line(rest);
    if (content.empty()) continue;
    const std::vector<std::string_view> cells = cells_of(content, columns.separator);
    const bool whole = cells.size() == header->cells;
    std::vector<std::string_view> asked;
    for (const std::size_t at : header->at) {
      asked.push_back(whole && at < cells.size() ? trimmed(cells[at]) : std::string_view());
    }
    TraceRow row(std::move(asked), header->names, line);
    TraceJob job;
    if (whole) {
      job = read(row);
    } else {
      row.refuse(std::to_string(cells.size()) + " cells, there should be " + std::to_string(header->cells));
    }
    TP_TRY(intake.take({.place = "line " + std::to_string(line),
                        .refused = row.refused(),
                        .left_out = row.left_out(),
                        .job = std::move(job)}));
  }
  return std::move(intake).finish();
}

Status settle(Trace& trace, const std::string& file) {
  if (trace.jobs.empty()) return invalid_argument(file + " holds no job that uses a GPU");
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(trace.jobs.size());
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) order.emplace_back(trace.jobs[i].submit_s, i);
  std::sort(order.begin(), order.end());
  const double first = order.front().first;
  if (order.back().first - first > kTraceSecondsMax) {
    return invalid_argument(file + ": the first and the last submission lie more than ten years apart");
  }
  std::vector<TraceJob> sorted;
  sorted.reserve(order.size());
  for (const auto& [at, i] : order) {
    TraceJob& job = sorted.emplace_back(std::move(trace.jobs[i]));
    job.submit_s = to_micros(job.submit_s - first);
    job.duration_s = to_micros(job.duration_s);
    if (job.deadline_s) job.deadline_s = to_micros(*job.deadline_s - first);
  }
  trace.jobs = std::move(sorted);
  return ok_status();
}

std::optional<double> seconds_of(std::string_view text) {
  if (const auto number = finite_number(text)) return number;
  const bool shaped = text.size() >= 19 && text[4] == '-' && text[7] == '-' && (text[10] == ' ' || text[10] == 'T') &&
                      text[13] == ':' && text[16] == ':';
  if (!shaped) return std::nullopt;
  const auto part = [&](std::size_t at, std::size_t digits, std::int64_t low, std::int64_t high) -> std::int64_t {
    const std::int64_t value = parse_number<std::int64_t>(text.substr(at, digits)).value_or(-1);
    return value >= low && value <= high ? value : -1;
  };
  const std::int64_t year = part(0, 4, 1970, 9999);
  const std::int64_t month = part(5, 2, 1, 12);
  const std::int64_t day = part(8, 2, 1, 31);
  const std::int64_t hour = part(11, 2, 0, 23);
  const std::int64_t minute = part(14, 2, 0, 59);
  const std::int64_t second = part(17, 2, 0, 60);
  if (std::min({year, month, day, hour, minute, second}) < 0) return std::nullopt;
  const std::int64_t next_month = month < 12 ? days_of(year, month + 1, 1) : days_of(year + 1, 1, 1);
  if (days_of(year, month, day) >= next_month) return std::nullopt;  // such as the 31st of April
  std::string_view rest = text.substr(19);
  double fraction = 0;
  if (rest.starts_with('.')) {
    const std::size_t end = rest.find_first_not_of("0123456789", 1);
    fraction = finite_number("0" + std::string(rest.substr(0, end))).value_or(0);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end);
  }
  const auto east = seconds_east(rest);
  if (!east) return std::nullopt;
  const std::int64_t local = days_of(year, month, day) * 86'400 + hour * 3'600 + minute * 60 + second;
  return static_cast<double>(local - *east) + fraction;
}

TraceStatus status_of(std::string_view word) {
  word = word.substr(0, word.find(' '));  // "CANCELLED by 1000"
  std::string low(word);
  for (char& letter : low) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  constexpr std::array<std::pair<std::string_view, TraceStatus>, 18> kWords{{{"succeeded", TraceStatus::kSucceeded},
                                                                             {"completed", TraceStatus::kSucceeded},
                                                                             {"pass", TraceStatus::kSucceeded},
                                                                             {"terminated", TraceStatus::kSucceeded},
                                                                             {"failed", TraceStatus::kFailed},
                                                                             {"timeout", TraceStatus::kFailed},
                                                                             {"node_fail", TraceStatus::kFailed},
                                                                             {"out_of_memory", TraceStatus::kFailed},
                                                                             {"boot_fail", TraceStatus::kFailed},
                                                                             {"deadline", TraceStatus::kFailed},
                                                                             {"cancelled", TraceStatus::kCancelled},
                                                                             {"killed", TraceStatus::kCancelled},
                                                                             {"preempted", TraceStatus::kCancelled},
                                                                             {"revoked", TraceStatus::kCancelled},
                                                                             {"running", TraceStatus::kRunning},
                                                                             {"suspended", TraceStatus::kRunning},
                                                                             {"pending", TraceStatus::kRunning},
                                                                             {"unknown", TraceStatus::kUnknown}}};
  for (const auto& [known, status] : kWords) {
    if (low == known) return status;
  }
  return TraceStatus::kUnknown;
}

}  // namespace tidepool::sim
