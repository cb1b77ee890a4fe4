// How many jobs each tenant has that have not ended, those of tenants below it included: what jobs_max limits.
//
// Rule: it follows from the jobs and the tree, so no snapshot holds it. It is counted while there is a tree.
#pragma once

#include <string>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Of a tenant, 0 where none is counted.
[[nodiscard]] int jobs_of(const TenantJobs& jobs, const std::string& tenant);
// One more of the leaf and of all above it; nothing where the tree does not have the leaf.
void add_job(TenantJobs& jobs, const TenantsByName& tree, const std::string& leaf);
// One has ended. Requires: it was counted, under the same tree.
void remove_job(TenantJobs& jobs, const TenantsByName& tree, const std::string& leaf);
// From all jobs of the state, as they would count under the tree.
[[nodiscard]] TenantJobs count_jobs(const ClusterState& state, const TenantsByName& tree);

}  // namespace tidepool::core
