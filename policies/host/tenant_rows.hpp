// The tenants that share a pool as a policy file sees them that divides it between them.
//
// What a leaf wants: the slots that the newest plan gives its jobs if it found that they can use no more, and the most
// that jobs may have that came since; else the most that its jobs may have. So it is rather too much than too little:
// what a tenant does not take of its claim goes to the others.
#pragma once

#include <vector>

#include "core/decide/policy.hpp"
#include "policies/cluster/cluster_view.hpp"

namespace tidepool::policies::host {

// Of a tree whose tenants each stand after their parents, as set: nothing is wanted or held.
[[nodiscard]] std::vector<cluster::TenantRow> rows_of(const core::TenantTree& tree);
// What the jobs want and hold, too, and what was held of late.
[[nodiscard]] std::vector<cluster::TenantRow> tenant_rows(const core::PlanRequest& request);
// What tenants want and hold, and what they held of late, is added to that of the tenants above them.
void add_to_parents(std::vector<cluster::TenantRow>& rows);

}  // namespace tidepool::policies::host
