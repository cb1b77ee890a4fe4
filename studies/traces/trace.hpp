// A recorded workload: which jobs asked for how many GPUs, when, and how long they ran. One line a job in a CSV text
// whose first line names the columns; what other schedulers write is brought into it by the importers beside this file.
// Times are seconds after the first submission, so a trace tells nothing about the calendar.
//
//   name         unique in the trace, without blanks at its ends
//   tenant       who pays: a tenant, account or virtual cluster           (default: default)
//   user         who submitted; may be empty
//   submit_s     when                                                     (needed)
//   gpus         how many at once, >= 1                                   (needed)
//   gpu_share    part of each of them, 0 < share <= 1                     (default: 1)
//   gpu_type     asked for by name; empty = any
//   duration_s   how long it ran at that size, > 0                        (needed)
//   deadline_s   on the same clock as submit_s; empty = none
//   status       succeeded, failed, cancelled, running or unknown         (default: unknown)
//   application  what it trains; may be empty
//   batch        samples a step; empty = not known
//   steps        in all; empty = not known
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tidepool::sim {

enum class TraceStatus { kUnknown, kSucceeded, kFailed, kCancelled, kRunning };
[[nodiscard]] std::string_view to_text(TraceStatus status);

struct TraceJob {
  std::string name;
  std::string tenant = "default";
  std::string user;
  double submit_s = 0;
  int gpus = 1;
  double gpu_share = 1;
  std::string gpu_type;
  double duration_s = 0;
  std::optional<double> deadline_s;
  TraceStatus status = TraceStatus::kUnknown;
  std::string application;
  std::int64_t batch = 0;  // 0 = not known
  std::int64_t steps = 0;  // 0 = not known

  bool operator==(const TraceJob&) const = default;
};

// What reading a text gave, and what it did not.
struct Trace {
  std::vector<TraceJob> jobs;                    // by submission, the first at 0; those of one instant as in the text
  std::map<std::string, std::int64_t> left_out;  // by reason: lines that are right and describe no GPU job
  std::vector<std::string> bad_lines;            // with skip_bad: what is wrong with each, at most kBadLinesKept
  std::int64_t bad_count = 0;
};
inline constexpr std::size_t kBadLinesKept = 10;

// The text of one file and what its reader may need besides it.
struct TraceText {
  std::string_view text;
  std::string file;           // as messages call it
  bool skip_bad = false;      // a bad line is counted and left out; else it is an error
  std::string_view speeds;    // gavel: the JSON table of steps a second
  std::string gpu_type = "";  // gavel: the row of that table that gives the durations
};

// Reads the form above. Columns may come in any order and be missing unless they are needed; an unknown one is an
// error.
[[nodiscard]] Result<Trace> read_trace_csv(const TraceText& input);

// Writes all columns; reading it back gives the same jobs and writing those the same text.
[[nodiscard]] std::string write_trace_csv(const std::vector<TraceJob>& jobs);

// Whether a first line is that of the form above.
[[nodiscard]] bool is_trace_header(std::string_view line);

}  // namespace tidepool::sim
