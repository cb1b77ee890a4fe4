// The common last stage of every policy that keeps jobs at the size that their users want: walk a queue, give each job
// its size while slots last. Also the reasons of every job in a line, whatever else its policy does.
#pragma once

#include <optional>
#include <vector>

#include "core/words/measure.hpp"
#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

using core::Measure;

enum class Overtaking {
  kAllowed,  // a job that does not fit is passed over
  kNever,    // it keeps all behind it waiting
};

// What is reported about a waiting job in addition to its place in line.
struct LineWait {
  int needed = 0;                 // slots
  int free = 0;                   // slots
  std::optional<int> ahead = {};  // jobs that come before it
};

// The data of a line. All except `order` by row, or empty.
struct Line {
  Measure measure = core::measure::kArrival;         // one of turns
  std::vector<double> own = {};                      // in the measure's unit; empty = only places are known
  std::vector<std::size_t> order = {};               // all rows; empty = the allocation's
  std::vector<LineWait> waits = {};                  // empty = for its least size, and what the allocation leaves free
  std::vector<core::reason::TimeShare> shares = {};  // of the measure kTimeShare
};
[[nodiscard]] Line by_arrival(const View& view);

// Rows by their values, least first; equal ones in order of submission.
[[nodiscard]] std::vector<std::size_t> rows_by(const std::vector<double>& values);

// `queue` names every row of view.jobs once. Marks are left as they are.
[[nodiscard]] Allocation grant_in_order(const View& view, std::vector<std::size_t> queue, Overtaking overtaking,
                                        const Line& line = {});

enum class ExplainedRows { kAll, kWaiting };

// Sets reasons, scores and losing sizes of the rows, or of those that are granted nothing, by their places in the line.
// A score is how far the job is ahead of the next job on the other side of the line; a waiting job is behind, and the
// size that it lost is the size that its user wants. Does nothing if view.explained is false.
void explain_line(const View& view, const Line& line, Allocation& allocation, ExplainedRows rows = ExplainedRows::kAll);

}  // namespace tidepool::policies::cluster
