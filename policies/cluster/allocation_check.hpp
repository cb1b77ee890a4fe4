// The rules for every round, whatever policy and place stage made it: no slot twice, gangs whole, sizes allowed. The
// error names the job (or node) and the broken rule; the caller then keeps the old placements.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

// One grant per job, each size between 0 and the job's largest, together at most the cluster's slots, those of one slot
// type at most the slots of that type, all grants or none naming a type; only a job that has held nothing yet is
// declined; `order` names every row once. A place stage may rely on this.
[[nodiscard]] Status check_allocation(const View& view, const Allocation& allocation);

// Each job's placement has the size it was granted, on existing nodes of the granted type, each node at most once; no
// node is overfull.
[[nodiscard]] Status check_placements(const View& view, const Allocation& allocation,
                                      const std::vector<Placement>& placements);

}  // namespace tidepool::policies::cluster
