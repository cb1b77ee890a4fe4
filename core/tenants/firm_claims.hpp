// Jobs whose slots cannot be reclaimed once they have them (firm_slots()): they start only within the guarantees of
// their tenant and of those above it.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "core/tenants/entitlement.hpp"
#include "core/tenants/tenant_needs.hpp"

namespace tidepool::core {

// The waiting ones for which those guarantees have no room beside the others of that kind, with what they are told. The
// highest priority comes first, then the longest wait; after all others those that no slot is cheap enough for, so that
// they hold up none, and find no more than their part when a price falls. `nodes`: the state's tree; `needs`: of its
// jobs.
[[nodiscard]] std::map<JobId, Reason> beyond_guarantees(const ClusterState& state, const std::vector<TenantNode>& nodes,
                                                        const TenantNeeds& needs,
                                                        const std::function<bool(const Job&)>& is_too_dear);

}  // namespace tidepool::core
