// Gandiva's time slicing over groups of nodes (Xiao et al., "Gandiva: Introspective Cluster Scheduling for Deep
// Learning", OSDI 2018, section 4), as the simulators of Tiresias and ElasticFlow run it (Gu et al., ASPLOS 2023,
// section 6.1): every job at the size its user wants; nodes are gathered into groups, each for jobs of one size; a
// new job goes to the least loaded group of its size that has room, else to a group of its own on free nodes, else
// beside others, and then the jobs of a group take turns, a slice of kSlice each. Then sizes that hold more or fewer
// slots than their part of the demand give groups up or get more.
// Two oddities of the simulators are kept, for their figures rest on them: a group's load counts every job that ever
// came to it until the group is formed anew, and how many groups a size gives up is counted in jobs, so that sizes
// below a node's lose nearly all of theirs.
// Departs from Gandiva in that: no packing by measured utilization, no migration but by those groups, no growing and
// shrinking of jobs. Turns change at whole minutes only, as there.
// A job's mark: level 1 = it was seen before. The cluster's mark: level 1, numbers = the groups, each as
// size, load, number of nodes, nodes (index into View::nodes), number of jobs, ids of jobs in order of their turns.
#pragma once

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

class Gandiva final : public AllocationPolicy {
 public:
  static constexpr Duration kSlice = Duration::seconds(60);

  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies::cluster
