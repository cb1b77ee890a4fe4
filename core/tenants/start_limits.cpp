#include "core/tenants/start_limits.hpp"

#include <algorithm>

#include "core/state/job_state.hpp"
#include "core/tenants/tenant_needs.hpp"

namespace tidepool::core {
namespace {

int smallest(const Job& job) {
  const int workers = job.requests.pinned_size > 0 ? job.requests.pinned_size : job.spec.elastic.sizes.front();
  return workers * job.spec.gpus_per_worker;
}

}  // namespace

StartLimits::StartLimits(const ClusterState& state) {
  if (state.tenants->empty()) return;
  slots_ = slots_to_share(state);
  places_ = places_of(*state.tenants);
  nodes_ = nodes_as_planned(state, places_);
  sums_.resize(nodes_.size());
  for (const auto& [id, job] : state.jobs) {
    const int kept = job->membership.workers.empty() ? 0 : slots_kept(state, *job);
    if (kept > 0)
      add(*job, is_fixed_claim(*job, job->spec.scaling.names_policy()) ? kept : std::min(kept, smallest(*job)));
  }
}

bool StartLimits::allow(const Job& job, int slots_more) const {
  const auto leaf = places_.find(job.spec.tenant);
  if (leaf == places_.end()) return true;
  const int firm = firm_slots(job, job.spec.scaling.names_policy());
  const int least = smallest(job);
  for (int at = static_cast<int>(leaf->second); at >= 0; at = nodes_[static_cast<std::size_t>(at)].parent) {
    const auto node = static_cast<std::size_t>(at);
    const TenantNode& tenant = nodes_[node];
    if (firm > 0 && sums_[node].firm + firm > tenant.guarantee) return false;
    if (tenant.borrow && sums_[node].least + least > std::int64_t{tenant.guarantee} + *tenant.borrow) return false;
  }
  return is_entitled(leaf->second, sums_[leaf->second].least + least, slots_more);
}

void StartLimits::take(const Job& job) {
  add(job, smallest(job));
}

void StartLimits::add(const Job& job, int least) {
  const auto leaf = places_.find(job.spec.tenant);
  if (leaf == places_.end()) return;
  const int firm = firm_slots(job, job.spec.scaling.names_policy());
  for (int at = static_cast<int>(leaf->second); at >= 0; at = nodes_[static_cast<std::size_t>(at)].parent) {
    sums_[static_cast<std::size_t>(at)].least += least;
    sums_[static_cast<std::size_t>(at)].firm += firm;
  }
}

// Based on the slots that tenants want according to the newest plan.
bool StartLimits::is_entitled(std::size_t leaf, std::int64_t slots, int slots_more) const {
  if (slots <= nodes_[leaf].guarantee) return true;
  std::vector<TenantNode> nodes = nodes_;
  nodes[leaf].wanted = as_slots(std::max<std::int64_t>(nodes[leaf].wanted, slots));
  return entitlements(std::move(nodes), slots_ + slots_more)[leaf] >= slots;
}

}  // namespace tidepool::core
