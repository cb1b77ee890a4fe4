// Slots that other tenants keep from a tenant because they do not lend all of their guarantees (TenantNode::lend).
//
// Safe rule. Nothing is decided by it: it explains a share that has been worked out. It counts only slots that the
// tenant would be entitled to if all were lent, so no limit between it and the pool is the cause. Where a policy file's
// claims divide the pool it says nothing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// That the tenant would be entitled to beyond its share if all were lent. Costs two divisions of the tree.
[[nodiscard]] int slots_kept_from(const ClusterState& state, const std::string& tenant);

struct Keeper {
  std::string tenant;
  int lend = 0;   // as it is set
  int slots = 0;  // that the other one would have besides if this one lent all, as those before it do
};
using TenantFilter = std::function<bool(const std::string&)>;
// The tenants that keep them, in the order of the tree: of those that pass, as if the others kept theirs.
// Costs a division for each of these that does not lend all.
[[nodiscard]] std::vector<Keeper> keepers_from(const ClusterState& state, const std::string& tenant,
                                               const TenantFilter& passes);

}  // namespace tidepool::core
