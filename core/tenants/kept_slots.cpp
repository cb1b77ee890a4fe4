#include "core/tenants/kept_slots.hpp"

#include <algorithm>
#include <cstddef>

#include "core/tenants/entitlement.hpp"
#include "core/tenants/tenant_nodes.hpp"

namespace tidepool::core {
namespace {

// As the newest plan found them.
std::vector<TenantNode> nodes_as_planned(const ClusterState& state, const TenantPlaces& places) {
  std::vector<TenantNode> nodes = nodes_of(*state.tenants, places);
  for (const auto& [name, plan] : state.plan.tenants) {
    const auto at = places.find(name);
    if (at == places.end()) continue;
    nodes[at->second].wanted = plan.wanted;
    nodes[at->second].loan = plan.loan * kLoanWeight;
  }
  return nodes;
}

bool is_divided_by_claims(const ClusterState& state) {
  return state.deployment.answer && !state.deployment.answer->claims.empty();
}

}  // namespace

std::optional<KeptSlots> kept_from(const ClusterState& state, const std::string& tenant) {
  const TenantPlaces places = places_of(*state.tenants);
  const auto place = places.find(tenant);
  if (place == places.end() || is_divided_by_claims(state)) return std::nullopt;
  std::vector<TenantNode> nodes = nodes_as_planned(state, places);
  const int slots = slots_to_share(state);
  const int share = entitlements(nodes, slots)[place->second];
  KeptSlots found;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].lend || *nodes[i].lend >= nodes[i].guarantee) continue;
    const int lend = *nodes[i].lend;
    nodes[i].lend.reset();
    const int more = entitlements(nodes, slots)[place->second] - share - found.slots;
    if (more == 0) continue;
    found.slots += more;
    found.keepers.push_back({.tenant = state.tenants->tenants[i].name, .lend = lend, .slots = more});
  }
  return found.slots <= 0 ? std::nullopt : std::optional(std::move(found));
}

}  // namespace tidepool::core
