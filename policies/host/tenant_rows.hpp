// The tenants that share a pool, as rows for a policy file that divides the pool between them.
//
// What a leaf wants: if the newest plan found that its jobs can use no more, the slots that the plan gives them plus
// the most that jobs submitted since may have; otherwise the most that its jobs may have. So the value is rather too
// high than too low: what a tenant does not use of its claim goes to the others.
#pragma once

#include <vector>

#include "core/decide/policy.hpp"
#include "policies/cluster/cluster_view.hpp"

namespace tidepool::policies::host {

// For a tree in which each tenant comes after its parent, as configured: nothing is wanted or held.
[[nodiscard]] std::vector<cluster::TenantRow> rows_of(const core::TenantTree& tree);
// Includes what the jobs want and hold, and what was held recently.
[[nodiscard]] std::vector<cluster::TenantRow> tenant_rows(const core::PlanRequest& request);
// Adds what tenants want and hold, and held recently, to the tenants above them.
void add_to_parents(std::vector<cluster::TenantRow>& rows);

}  // namespace tidepool::policies::host
