// What all importers share: lines cut into cells, cells read strictly, entries judged alike whatever the format, and
// the finished jobs put in order. A row reader takes what it needs from a row; the first thing that is wrong with the
// row is what its line is reported for.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "studies/traces/trace.hpp"

namespace tidepool::sim {

class TraceRow {
 public:
  TraceRow(std::vector<std::string_view> cells, const std::vector<std::string>& names, int line)
      : cells_(std::move(cells)), names_(names), line_(line) {}

  // Cells by their place in TraceColumns::names. A text that a CSV cell cannot hold has those letters replaced by '_'.
  [[nodiscard]] std::string text(std::size_t column);
  [[nodiscard]] bool empty(std::size_t column) const { return cells_[column].empty(); }
  [[nodiscard]] std::string_view raw(std::size_t column) const { return cells_[column]; }
  // Wrong cells give the lower bound and are remembered.
  [[nodiscard]] double number(std::size_t column, double low, double high);
  [[nodiscard]] std::int64_t whole(std::size_t column, std::int64_t low, std::int64_t high);
  // "2017-10-09 07:01:55", with a T or a blank, as seconds since 1970; or a number of seconds. A zone may follow: Z,
  // UTC, PST, PDT, +02:00 or +0200; without one it is taken as UTC, which leaves differences right.
  [[nodiscard]] double time(std::size_t column);
  [[nodiscard]] int line() const { return line_; }

  void refuse(std::string why);
  void leave_out(std::string why);  // right, but no job that counts
  [[nodiscard]] const std::string& refused() const { return refused_; }
  [[nodiscard]] const std::string& left_out() const { return left_out_; }

 private:
  void refuse_cell(std::size_t column, const std::string& wanted);

  std::vector<std::string_view> cells_;
  const std::vector<std::string>& names_;
  int line_;
  std::string refused_;
  std::string left_out_;
};

// One entry of a file, such as a line, as its reader found it.
struct TraceEntry {
  std::string place;     // as messages call it: "line 5"
  std::string refused;   // what is wrong with it; empty = nothing that the reader saw
  std::string left_out;  // why it is right, but no job that counts
  TraceJob job;
};

// Takes the entries of one file. No job gets into the trace that a trace cannot hold, and no name twice; letters that a
// CSV cell cannot hold are replaced by '_'.
class TraceIntake {
 public:
  explicit TraceIntake(const TraceText& input) : file_(input.file), skip_bad_(input.skip_bad) {}

  // The error names file and place; with skip_bad a wrong entry is counted instead.
  [[nodiscard]] Status take(TraceEntry entry);
  [[nodiscard]] Result<Trace> finish() &&;

 private:
  std::string file_;
  bool skip_bad_;
  std::set<std::string> names_;
  Trace trace_;
};

struct TraceColumns {
  // What the reader asks for, in its order. "a|b": either name; a '?' at the end: may be missing and is empty then.
  std::vector<std::string_view> names;
  char separator = ',';
  bool header = true;         // the first line names the columns; else there are as many cells as names
  std::string_view named_by;  // names the columns in place of the first line, which then is a row
  bool strict = false;        // a column that is not asked for is an error
};

using ReadRow = std::function<TraceJob(TraceRow&)>;

// Reads every line but the first and empty ones, and settles what comes of it.
[[nodiscard]] Result<Trace> read_trace_rows(const TraceText& input, const TraceColumns& columns, const ReadRow& read);

// Orders by submission, moves the first to 0 (deadlines with it) and checks what must hold for any trace.
[[nodiscard]] Status settle(Trace& trace, const std::string& file);

// As TraceRow::time; nothing if it is neither.
[[nodiscard]] std::optional<double> seconds_of(std::string_view text);

// Words of other schedulers for how a job ended; unknown where there is no such word.
[[nodiscard]] TraceStatus status_of(std::string_view word);

// The longest that a submission may lie after the first, and a job may run.
inline constexpr double kTraceSecondsMax = 10 * 366 * 86'400.0;
inline constexpr int kTraceGpusMax = 100'000;

}  // namespace tidepool::sim
