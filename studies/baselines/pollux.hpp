// Pollux (Qiao et al., "Pollux: Co-adaptive Cluster Scheduling for Goodput-Optimized Deep Learning", OSDI 2021, section
// 4.2, and its artifact): the matrix job x node of the highest fitness (pollux_fitness.hpp), each round anew. Jobs
// choose their batch for what they hold by the same fitted model (section 4.1), which is done where they run; the
// policy sees the resulting goodput. It proposes the placement itself, because the objective depends on it. Departs
// from Pollux in that: another search (pollux_search.hpp), seeded by the instant of the decision, which keeps no
// population from round to round; no resizing of the cluster.
#pragma once

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

class Pollux final : public AllocationPolicy {
 public:
  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies::cluster
