// The common end of every policy that keeps jobs at the size their users want: walk a queue, give each job its size
// while slots last. And the reasons of everybody who stands in a line, whatever else his policy does.
#pragma once

#include <string_view>
#include <vector>

#include "core/words/measure.hpp"
#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

enum class Overtaking {
  kAllowed,  // a job that does not fit is passed over
  kNever,    // it keeps all behind it waiting
};

// What a line goes by.
struct Line {
  std::string_view measure = core::measure::kArrival;  // one of turns
  std::vector<double> own = {};                        // by row, in the measure's unit; empty = places are all there is
  std::vector<std::size_t> order = {};                 // all rows; empty = the allocation's
};
[[nodiscard]] Line by_arrival(const View& view);

// `queue` names every row of view.jobs once. Marks are left as they are.
[[nodiscard]] Allocation grant_in_order(const View& view, std::vector<std::size_t> queue, Overtaking overtaking,
                                        const Line& line = {});

enum class Told { kEverybody, kWaiting };

// Sets reasons, scores and losing sizes of the rows, or of those that are granted nothing, by their places in
// the line. A score is how far the job is ahead of the next one on the other side of the line; a job that waits
// is behind, and what it lost is the size that its user wants. Nothing where view.explained is false.
void explain_line(const View& view, const Line& line, Allocation& allocation, Told told = Told::kEverybody);

}  // namespace tidepool::policies::cluster
