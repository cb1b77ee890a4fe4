#include "core/tenants/tenant_needs.hpp"

#include <algorithm>

#include "core/state/job_state.hpp"
#include "core/state/membership.hpp"

namespace tidepool::core {

bool is_fixed_claim(const Job& job, bool has_own_policy) {
  return has_own_policy || job.requests.pinned_size > 0;
}

int firm_slots(const Job& job, bool has_own_policy) {
  const int each = job.spec.gpus_per_worker;
  if (job.requests.pinned_size > 0) return job.requests.pinned_size * each;
  if (has_own_policy) return job.spec.elastic.sizes.back() * each;
  return job.spec.preemptible ? 0 : job.spec.elastic.sizes.front() * each;
}

int slots_kept(const ClusterState& state, const Job& job) {
  int slots = 0;
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *state.find_worker(id);
    if (!worker.is_gone() && !is_on_its_way_out(job, worker)) slots += static_cast<int>(worker.slots.size());
  }
  return slots;
}

void TenantNeeds::reset(std::size_t tenants) {
  needs_.clear();
  sums_.assign(tenants, {});
  ++revision_;
}

void TenantNeeds::put(JobId job, const JobNeed* need) {
  if (const auto known = needs_.find(job); known != needs_.end()) {
    add(job, known->second, -1);
    needs_.erase(job);
  }
  if (need == nullptr) return;
  add(job, *need, 1);
  needs_.emplace(job, *need);
}

const JobNeed* TenantNeeds::find(JobId job) const {
  const auto known = needs_.find(job);
  return known == needs_.end() ? nullptr : &known->second;
}

void TenantNeeds::add(JobId job, const JobNeed& need, int sign) {
  if (!need.tenant) return;
  Sums& sums = sums_[*need.tenant];
  sums.most += std::int64_t{sign} * need.most;
  sums.given += std::int64_t{sign} * need.given;
  if (need.step > 0) {
    const auto jobs = sums.steps.try_emplace(need.step, 0).first;
    jobs->second += sign;
    if (jobs->second == 0) sums.steps.erase(jobs);
  }
  if (sign > 0) {
    revision_ += sums.jobs.empty() ? 1 : 0;
    sums.jobs.insert(job);
    if (need.counts && need.firm > 0) sums.firm.insert(job);
    return;
  }
  sums.jobs.erase(job);
  sums.firm.erase(job);
  revision_ += sums.jobs.empty() ? 1 : 0;
}

}  // namespace tidepool::core
