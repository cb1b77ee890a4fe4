#include "core/tenants/guarantee_room.hpp"

#include <algorithm>
#include <functional>

#include "core/tenants/tenant_needs.hpp"

namespace tidepool::core {

GuaranteeRoom::GuaranteeRoom(const ClusterState& state) : state_(state) {
  for (const auto& [id, job] : state.jobs) {
    if (!job->membership.workers.empty()) held_[job->spec.tenant] += slots_kept(state, *job);
  }
  // Each tenant comes after its parent, so from the end each sum is complete before it is added.
  const auto& tenants = state.tenants->tenants;
  for (auto tenant = tenants.rbegin(); tenant != tenants.rend(); ++tenant) {
    if (!tenant->parent.empty()) held_[tenant->parent] += held_[tenant->name];
  }
}

void GuaranteeRoom::add(const std::string& tenant, std::int64_t slots) {
  for (const Tenant* each : state_.tenants->path_to(tenant)) held_[each->name] += slots;
}

std::int64_t GuaranteeRoom::held(std::string_view tenant) const {
  const auto held = held_.find(tenant);
  return held == held_.end() ? 0 : held->second;
}

std::int64_t GuaranteeRoom::beside(std::string_view tenant, std::string_view other) const {
  const auto above_other = state_.tenants->path_to(other);
  std::int64_t most = 0;
  for (const Tenant* each : state_.tenants->path_to(tenant)) {
    if (std::find(above_other.begin(), above_other.end(), each) != above_other.end()) continue;
    most = std::max(most, each->guarantee - held(each->name));
  }
  return most;
}

}  // namespace tidepool::core
