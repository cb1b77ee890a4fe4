// The common end of every policy that chooses sizes for all jobs together: grants with their reasons, and large jobs
// first in the order of placement, because only they need whole nodes.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/words/measure.hpp"
#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

struct ChosenSize {
  int size = 0;
  double bar = 0;                             // what each slot has to bring, whatever the others have
  std::optional<core::Reason> held_for = {};  // why it keeps this size, where that is not a matter of the next one
};

// What sizes are worth to a job by the policy's own measure, so that what a slot brings can be told, and which size
// comes next. A score is by how much a size is better than the chosen one, whose score is 0: what it is worth more,
// less what the slots for it bring the jobs that hold them, or what slots given up for it would bring those that want
// them.
struct Weighing {
  core::Measure measure;  // one of merit
  // Of a row at a size that it may have, or at 0 = holding nothing; -infinity where the policy does not weigh it.
  std::function<double(std::size_t row, int size)> worth;
  // Of the measure kFitness: goodput as a multiple of the fair share's; empty = not told.
  std::function<double(std::size_t row, int size)> goodput = {};
};

// `chosen`: one per row of view.jobs. Marks are left as they are. `weighing` is asked only where view.explained.
[[nodiscard]] Allocation grant_sizes(const View& view, const std::vector<ChosenSize>& chosen, const Weighing& weighing);

// All rows, those that are granted most first, which is the order of placement.
[[nodiscard]] std::vector<std::size_t> largest_first(const std::vector<Grant>& grants);

// Why a job that has the largest size that its policy weighs gets no more: it may not, or larger ones are yet to be
// weighed, or would not pay, or have no room. `free`: slots that no job gets. `with_room`: what is told where these
// suffice for a larger size that would pay by its throughput; none: that they lie apart.
[[nodiscard]] GrantReason at_the_top(const JobRow& job, int size, int free,
                                     const std::optional<core::Reason>& with_room = std::nullopt);

// One worker more after another, up to `most`: how much faster a step is than on one worker, on as few nodes as
// possible; 0 where the job cannot run. Index = size, [0] = 0. A job that is too large for one worker is measured
// against the smallest size m at which it can run, which counts as m.
[[nodiscard]] std::vector<double> speedup_table(const JobRow& job, int slots_per_node, int most);

// The speed-ups themselves are the worth. The tables outlive it; an empty one is of a row that is not weighed.
[[nodiscard]] Weighing by_speedup(const std::vector<std::vector<double>>& tables);

}  // namespace tidepool::policies::cluster
