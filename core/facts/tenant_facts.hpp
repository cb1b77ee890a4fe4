// Tenants: the tree as operators set it, what a tenant's jobs may ask for, and what they have used.
#pragma once

#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// Refuses a tree that contradicts itself, or that leaves out a tenant with jobs that have not ended.
[[nodiscard]] Status apply(StateChange& change, const TenantsConfigured& fact);

// Whether jobs may belong to the tenant: it is in the tree, and none is below it.
[[nodiscard]] Status check_leaf(const TenantsByName& tree, const std::string& tenant);

// Whether the job's tenant exists and allows what it asks for; the error names the limit and its tenant. Everything is
// allowed while there are no tenants.
[[nodiscard]] Status check_allowed(const TenantsByName& tree, const JobSpec& spec);

// Whether its tenant, and those above, may have one job more (jobs_max) once they have those that are submitted with it
// `before` it.
[[nodiscard]] Status check_jobs_max(const ClusterState& state, const TenantJobs& before, const JobSpec& spec);

// Whether its tenant's guarantee, and those above, hold what the job would keep at a size pinned by its user, beside
// what other jobs that run keep for good.
[[nodiscard]] Status check_pin(const ClusterState& state, const Job& job, int size);

// The same for what a job with workers keeps after a change, where that is more than before. For requests alone: a
// journal may hold a change that is refused here.
[[nodiscard]] Status check_kept_after(const ClusterState& state, const Job& job, const JobSpec& spec);

}  // namespace tidepool::core
