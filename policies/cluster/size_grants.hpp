// The common end of every policy that chooses sizes for all jobs together: grants with their reasons, and large jobs
// first in the order of placement, because only they need whole nodes.
#pragma once

#include <vector>

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

struct ChosenSize {
  int size = 0;
  double gain = 0;  // what the policy's objective gains by this size over the one that the job holds
  double bar = 0;   // what that had to beat
};

// `chosen`: one per row of view.jobs. Marks are left as they are.
[[nodiscard]] Allocation grant_sizes(const View& view, const std::vector<ChosenSize>& chosen);

// One worker more after another, up to `most`: how much faster a step is than on one worker, on as few nodes as
// possible; 0 where the job cannot run. Index = size, [0] = 0. A job that is too large for one worker is measured
// against the smallest size m at which it can run, which counts as m.
[[nodiscard]] std::vector<double> speedup_table(const JobRow& job, int slots_per_node, int most);

}  // namespace tidepool::policies::cluster
