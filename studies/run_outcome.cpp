#include "studies/run_outcome.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tidepool::sim {
namespace {

struct Counts {
  std::size_t jobs = 0;
  std::size_t completed = 0;
  std::size_t failed = 0;
  std::size_t left = 0;
  std::size_t never_ran = 0;  // of those that are left
  std::string first_failure;
};

Counts counted(const std::vector<JobResult>& rows) {
  Counts counts{.jobs = rows.size()};
  for (const JobResult& row : rows) {
    if (!core::is_final(row.state)) {
      ++counts.left;
      counts.never_ran += row.started_s ? 0 : 1;
    }
    counts.completed += row.state == core::JobState::kSucceeded ? 1 : 0;
    if (row.state != core::JobState::kFailed) continue;
    if (++counts.failed == 1 && !row.failure.empty()) counts.first_failure = row.name + ": " + row.failure;
  }
  return counts;
}

// The largest unit in which it is whole.
std::string in_words(Duration time) {
  constexpr std::array<std::pair<std::int64_t, const char*>, 3> kUnits{
      {{86'400, "day"}, {3'600, "hour"}, {60, "minute"}}};
  const std::int64_t seconds = time.count_ms() / 1'000;
  for (const auto& [length, name] : kUnits) {
    if (seconds < length || seconds % length != 0) continue;
    const std::int64_t count = seconds / length;
    return std::to_string(count) + " " + name + (count == 1 ? "" : "s");
  }
  return std::to_string(seconds) + (seconds == 1 ? " second" : " seconds");
}

std::string of_all(std::size_t count, const Counts& counts) {
  return std::to_string(count) + " of " + std::to_string(counts.jobs) + (counts.jobs == 1 ? " job" : " jobs");
}

std::string left_note(const OutcomeInput& input, const Counts& counts) {
  std::string note = "under " + input.policy + " ";
  if (input.cut_off) {
    note += "the run was cut off " + in_words(input.until) + " after the first submission with " +
            of_all(counts.left, counts) + " left";
  } else {
    note += of_all(counts.left, counts) + (counts.left == 1 ? " was" : " were") + " left when nothing more could run";
  }
  if (counts.never_ran > 0) note += ", " + std::to_string(counts.never_ran) + " of which never ran";
  if (counts.completed > 0) note += "; times are of those that completed";
  return note;
}

}  // namespace

Outcome outcome_of(const OutcomeInput& input) {
  const Counts counts = counted(input.rows);
  Outcome outcome;
  if (counts.left > 0) outcome.notes.push_back(left_note(input, counts));
  if (counts.failed > 0) {
    outcome.notes.push_back("under " + input.policy + " " + of_all(counts.failed, counts) + " failed" +
                            (counts.first_failure.empty() ? "" : "; the first, " + counts.first_failure));
  }
  if (input.cut_off && input.asked) return outcome;
  if (counts.completed == 0) {
    outcome.trouble = "no job completed under " + input.policy;
  } else if (input.cut_off) {
    outcome.trouble =
        "the run under " + input.policy + " was cut off with jobs left; --until sets how long it may last";
  }
  return outcome;
}

}  // namespace tidepool::sim
