// Jobs whose slots cannot be reclaimed once they have them (firm_slots()): they start only within the guarantees of
// their tenant and of the tenants above it.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "core/tenants/entitlement.hpp"
#include "core/tenants/tenant_needs.hpp"

namespace tidepool::core {

// The waiting jobs for which those guarantees have no room in addition to the other jobs of that kind, each with its
// reason. The highest priority comes first, then the longest wait. Jobs for which no slot is cheap enough come last, so
// that they block no others, and find no more than their part when a price falls. `nodes`: the state's tree; `needs`:
// of its jobs.
[[nodiscard]] std::map<JobId, Reason> beyond_guarantees(const ClusterState& state, const std::vector<TenantNode>& nodes,
                                                        const TenantNeeds& needs,
                                                        const std::function<bool(const Job&)>& is_too_dear);

}  // namespace tidepool::core
