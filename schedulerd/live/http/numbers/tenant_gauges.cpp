#include "schedulerd/live/http/numbers/tenant_gauges.hpp"

#include <set>

#include "schedulerd/live/http/numbers/tenant_numbers.hpp"

namespace tidepool::live::http {

TenantGauges::ByTenant::ByTenant(prometheus::Registry& registry, const char* name, const char* help)
    : family_(prometheus::BuildGauge().Name(name).Help(help).Register(registry)) {}

void TenantGauges::ByTenant::set(const std::map<std::string, int>& values) {
  for (auto gauge = gauges_.begin(); gauge != gauges_.end();) {
    const bool stays = values.contains(gauge->first);
    if (!stays) family_.Remove(gauge->second);
    gauge = stays ? std::next(gauge) : gauges_.erase(gauge);
  }
  for (const auto& [tenant, value] : values) {
    auto& gauge = gauges_[tenant];
    if (gauge == nullptr) gauge = &family_.Add({{"tenant", tenant}});
    gauge->Set(value);
  }
}

TenantGauges::TenantGauges(prometheus::Registry& registry)
    : guaranteed_(registry, "sched_tenant_guaranteed_slots", "Slots that a tenant can have at any time"),
      held_(registry, "sched_tenant_held_slots", "Slots that a tenant's jobs hold"),
      entitled_(registry, "sched_tenant_entitled_slots", "Slots that a tenant may have now"),
      wanted_(registry, "sched_tenant_wanted_slots", "Slots that a tenant's jobs could use, as far as known") {}

void TenantGauges::set(const core::ClusterState& state, bool shared) {
  std::map<std::string, int> guaranteed;
  std::map<std::string, int> held;
  std::map<std::string, int> entitled;
  std::map<std::string, int> wanted;
  const auto& tenants = state.tenants->tenants;
  const auto numbers = tenant_numbers(state);
  std::set<std::string> parents;
  for (const core::Tenant& tenant : tenants) parents.insert(tenant.parent);
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    const std::string& name = tenants[i].name;
    if (parents.contains(name)) continue;
    guaranteed[name] = tenants[i].guarantee;
    held[name] = numbers[i].held;
    if (!shared) continue;
    entitled[name] = numbers[i].entitled;
    wanted[name] = numbers[i].wanted;
  }
  guaranteed_.set(guaranteed);
  held_.set(held);
  entitled_.set(entitled);
  wanted_.set(wanted);
}

}  // namespace tidepool::live::http
