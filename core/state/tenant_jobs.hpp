// The number of jobs that have not ended, per tenant including the tenants below it: the count that jobs_max limits.
//
// Rule: it is derived from the jobs and the tree, so no snapshot stores it. It is counted while there is a tree.
#pragma once

#include <string>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// The count of a tenant, 0 if none is counted.
[[nodiscard]] int jobs_of(const TenantJobs& jobs, const std::string& tenant);
// Adds one job to the leaf and to all tenants above it; does nothing if the tree does not have the leaf.
void add_job(TenantJobs& jobs, const TenantsByName& tree, const std::string& leaf);
// Removes a job that has ended. Requires: it was counted, under the same tree.
void remove_job(TenantJobs& jobs, const TenantsByName& tree, const std::string& leaf);
// Counts all jobs of the state under the tree.
[[nodiscard]] TenantJobs count_jobs(const ClusterState& state, const TenantsByName& tree);

}  // namespace tidepool::core
