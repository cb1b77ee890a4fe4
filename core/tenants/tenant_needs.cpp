#include "core/tenants/tenant_needs.hpp"

#include <algorithm>

#include "core/state/budget_hold.hpp"
#include "core/state/job_state.hpp"
#include "core/state/membership.hpp"

namespace tidepool::core {
namespace {

// Additional slots up to its next size.
int step_of(const Job& job, int given) {
  const auto& sizes = job.spec.elastic.sizes;
  const int size = given / job.spec.gpus_per_worker;
  const auto next = std::upper_bound(sizes.begin(), sizes.end(), size);
  const bool has_all = next == sizes.end() || (is_shrunk(job) && size >= sizes.front());
  return has_all ? 0 : (*next - size) * job.spec.gpus_per_worker;
}

// In slots.
int most_of(const Job& job, int held) {
  const auto& sizes = job.spec.elastic.sizes;
  const int each = job.spec.gpus_per_worker;
  return is_shrunk(job) ? std::max(held, sizes.front() * each) : sizes.back() * each;
}

}  // namespace

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

JobNeed need_of(const ClusterState& state, const Job& job, bool has_own_policy) {
  const bool is_claim = is_fixed_claim(job, has_own_policy);
  const int each = job.spec.gpus_per_worker;
  const int held = slots_kept(state, job);
  JobNeed need{.counts = true, .firm = firm_slots(job, has_own_policy)};
  need.claims = is_claim && held > 0;
  // Pinned slots that the job does not hold yet are wanted by its tenant, and may be claimed for it.
  const int pinned = job.requests.pinned_size * each;
  need.unmet = need.claims ? std::max(0, pinned - held) : 0;
  need.given = need.claims ? held + need.unmet : job.planned ? job.planned->target.size * each : 0;
  const int claimed = job.requests.pinned_size > 0 ? job.requests.pinned_size : job.spec.elastic.preferred;
  need.step = is_claim ? 0 : step_of(job, need.given);
  need.most = is_claim ? std::max(held, claimed * each) : most_of(job, held);
  return need;
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
  sums.unmet += std::int64_t{sign} * need.unmet;
  if (need.step > 0) {
    const auto jobs = sums.steps.try_emplace(need.step, 0).first;
    jobs->second += sign;
    if (jobs->second == 0) sums.steps.erase(jobs);
  }
  if (need.asks && !need.claims) {
    sums.given_typed[*need.asks] += std::int64_t{sign} * need.given;
    const auto jobs = sums.asking.try_emplace(*need.asks, 0).first;
    jobs->second += sign;
    if (jobs->second == 0) {
      sums.asking.erase(jobs);
      sums.given_typed.erase(*need.asks);
    }
  }
  if (sign > 0) {
    revision_ += sums.jobs.empty() ? 1 : 0;
    sums.jobs.insert(job);
    if (need.counts && need.firm > 0) sums.firm.insert(job);
    if (need.claims) sums.claims.insert(job);
    return;
  }
  sums.jobs.erase(job);
  sums.firm.erase(job);
  sums.claims.erase(job);
  revision_ += sums.jobs.empty() ? 1 : 0;
}

}  // namespace tidepool::core
