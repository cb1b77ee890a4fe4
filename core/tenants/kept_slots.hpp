// Slots of guarantees that tenants keep from another one, as they do not lend them (TenantNode::lend).
//
// Safe rule. Nothing is decided by it: it explains a share that has been worked out. It is there only where the tenant
// would be entitled to more if all were lent, so no limit on its way to the pool is the reason. Where a policy file's
// claims divide the pool, nothing is said.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

struct KeptSlots {
  struct Keeper {
    std::string tenant;
    int lend = 0;   // as it is set
    int slots = 0;  // that the tenant would have if this one lent all, too
  };
  int slots = 0;  // that the tenant would be entitled to beyond its share if all were lent
  std::vector<Keeper>
      keepers;  // in the order of the tree; those before each one lend all. Their slots add up to `slots`
};
// O(n) divisions of a tree of n tenants at most: one for each that keeps slots.
[[nodiscard]] std::optional<KeptSlots> kept_from(const ClusterState& state, const std::string& tenant);

}  // namespace tidepool::core
