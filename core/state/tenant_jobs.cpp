#include "core/state/tenant_jobs.hpp"

#include "base/check.hpp"

namespace tidepool::core {

int jobs_of(const TenantJobs& jobs, const std::string& tenant) {
  const auto found = jobs.find(tenant);
  return found == jobs.end() ? 0 : found->second;
}

void add_job(TenantJobs& jobs, const TenantsByName& tree, const std::string& leaf) {
  for (const Tenant* tenant : tree.path_to(leaf)) ++jobs[tenant->name];
}

void remove_job(TenantJobs& jobs, const TenantsByName& tree, const std::string& leaf) {
  for (const Tenant* tenant : tree.path_to(leaf)) {
    int* counted = jobs.edit_if_there(tenant->name);
    TP_CHECK(counted != nullptr, "a job that ends was counted for its tenants");
    if (--*counted == 0) jobs.erase(tenant->name);
  }
}

TenantJobs count_jobs(const ClusterState& state, const TenantsByName& tree) {
  TenantJobs jobs;
  if (tree.empty()) return jobs;
  for (const auto& [id, job] : state.jobs) {
    if (!is_final(job->state())) add_job(jobs, tree, job->spec.tenant);
  }
  return jobs;
}

}  // namespace tidepool::core
