// The common last stage of every policy that chooses sizes for all jobs together: grants with their reasons, and large
// jobs first in the order of placement, because only they need whole nodes.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/words/measure.hpp"
#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

struct ChosenSize {
  int size = 0;
  double bar = 0;                             // what each slot must bring, whatever the others have
  std::optional<core::Reason> held_for = {};  // why it keeps this size, where the next size is not the cause
};

// What sizes are worth to a job by the policy's own measure, used to report what a slot brings and which size comes
// next. A score is by how much a size is better than the chosen one, whose score is 0: its additional worth, minus what
// the slots for it bring the jobs that hold them, or what slots released for it would bring the jobs that want them.
struct Weighing {
  core::Measure measure;  // one of merit
  // Of a row at a size that it may have, or at 0 = holding nothing; -infinity where the policy does not weigh it.
  std::function<double(std::size_t row, int size)> worth;
  // Of the measure kFitness: goodput as a multiple of the fair share's; empty = not told.
  std::function<double(std::size_t row, int size)> goodput = {};
};

// `chosen`: one per row of view.jobs. Marks are left as they are. `weighing` is asked only where view.explained.
[[nodiscard]] Allocation grant_sizes(const View& view, const std::vector<ChosenSize>& chosen, const Weighing& weighing);

// All rows, those with the largest grants first, which is the order of placement.
[[nodiscard]] std::vector<std::size_t> largest_first(const std::vector<Grant>& grants);

// Why a job at the largest size that its policy weighs gets no more: it is not allowed more, or larger sizes are not
// weighed yet, would not pay, or have no room. `free`: slots that no job gets. `with_room`: the reason where these are
// enough for a larger size that would pay by its throughput; none: that they are scattered.
[[nodiscard]] GrantReason at_the_top(const JobRow& job, int size, int free,
                                     const std::optional<core::Reason>& with_room = std::nullopt);

// For one worker after another, up to `most`: how much faster a step is than on one worker, on as few nodes as
// possible; 0 where the job cannot run. Index = size, [0] = 0. A job that is too large for one worker is compared with
// the smallest size m at which it can run, which counts as m.
[[nodiscard]] std::vector<double> speedup_table(const JobRow& job, int slots_per_node, int most);

// The speed-ups themselves are the worth. The tables outlive it; the table of a row that is not weighed is empty.
[[nodiscard]] Weighing by_speedup(const std::vector<std::vector<double>>& tables);

}  // namespace tidepool::policies::cluster
