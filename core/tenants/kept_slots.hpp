// Slots of guarantees that tenants keep from another one, as they do not lend them (TenantNode::lend).
//
// Safe rule. Nothing is decided by it: it explains a share that has been worked out. It is there only where the tenant
// would be entitled to more if all were lent, so no limit of its own is the reason.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

struct KeptSlots {
  int slots = 0;
  std::vector<std::pair<std::string, int>> by_tenant;  // in the order of the tree, each with those below it
};
[[nodiscard]] std::optional<KeptSlots> kept_from(const ClusterState& state, const std::string& tenant);

}  // namespace tidepool::core
