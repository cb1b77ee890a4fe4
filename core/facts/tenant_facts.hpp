// Tenants: the tree as operators set it, what a tenant's jobs may request, and what they have used.
#pragma once

#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// Refuses a tree that is inconsistent, or that omits a tenant with jobs that have not ended.
[[nodiscard]] Status apply(StateChange& change, const TenantsConfigured& fact);

// Whether jobs may belong to the tenant: it is in the tree, and none is below it.
[[nodiscard]] Status check_leaf(const TenantsByName& tree, const std::string& tenant);

// Whether the job's tenant exists and allows the job's requests; the error names the limit and its tenant. Everything
// is allowed while there are no tenants.
[[nodiscard]] Status check_allowed(const TenantsByName& tree, const JobSpec& spec);

// Whether its tenant, and those above, may have one more job (jobs_max) in addition to the jobs submitted together with
// it and `before` it.
[[nodiscard]] Status check_jobs_max(const ClusterState& state, const TenantJobs& before, const JobSpec& spec);

// Whether the guarantees of its tenant, and of those above, cover what the job would hold permanently at a size pinned
// by its user, in addition to what other running jobs hold permanently.
[[nodiscard]] Status check_pin(const ClusterState& state, const Job& job, int size);

// The same for what a job with workers holds permanently after a change, if it is more than before. For requests only:
// a journal may contain a change that is refused here.
[[nodiscard]] Status check_kept_after(const ClusterState& state, const Job& job, const JobSpec& spec);

}  // namespace tidepool::core
