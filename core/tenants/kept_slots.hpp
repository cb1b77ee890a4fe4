// Slots that other tenants keep from a tenant because they do not lend all of their guarantees (TenantNode::lend).
//
// Safe rule. No decision reads it: it explains a computed share. It counts only slots to which the tenant would be
// entitled if all guarantees were lent, so no limit between the tenant and the pool is the cause. Where a policy file's
// claims divide the pool, the result is empty.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Slots beyond the tenant's share to which it would be entitled if all guarantees were lent. Costs two divisions of the
// tree.
[[nodiscard]] int slots_kept_from(const ClusterState& state, const std::string& tenant);

struct Keeper {
  std::string tenant;
  int lend = 0;   // the tenant's setting
  int slots = 0;  // additional slots of the other tenant if this one, like those before it, lent all
};
using TenantFilter = std::function<bool(const std::string&)>;
// The tenants that keep these slots, in the order of the tree, limited to those that pass the filter; other tenants
// count as keeping theirs. Costs a division for each of these tenants that does not lend all.
[[nodiscard]] std::vector<Keeper> keepers_from(const ClusterState& state, const std::string& tenant,
                                               const TenantFilter& passes);

}  // namespace tidepool::core
