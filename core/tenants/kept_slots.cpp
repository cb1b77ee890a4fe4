#include "core/tenants/kept_slots.hpp"

#include <cstddef>

#include "core/tenants/entitlement.hpp"
#include "core/tenants/tenant_nodes.hpp"

namespace tidepool::core {

std::optional<KeptSlots> kept_from(const ClusterState& state, const std::string& tenant) {
  const TenantTree& tree = *state.tenants;
  const TenantPlaces places = places_of(tree);
  const auto place = places.find(tenant);
  if (place == places.end()) return std::nullopt;
  std::vector<TenantNode> nodes = nodes_of(tree, places);
  for (const auto& [name, plan] : state.plan.tenants) {
    const auto at = places.find(name);
    if (at == places.end()) continue;
    nodes[at->second].wanted = plan.wanted;
    nodes[at->second].loan = plan.loan * kLoanWeight;
  }
  std::vector<TenantNode> all_lent = nodes;
  for (TenantNode& node : all_lent) node.lend.reset();
  const int slots = slots_to_share(state);
  if (entitlements(all_lent, slots)[place->second] <= entitlements(nodes, slots)[place->second]) return std::nullopt;
  const std::vector<int> kept = slots_kept(nodes);
  KeptSlots found;
  for (int at = static_cast<int>(place->second); at >= 0; at = nodes[static_cast<std::size_t>(at)].parent) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const bool is_beside = static_cast<int>(i) != at && nodes[i].parent == nodes[static_cast<std::size_t>(at)].parent;
      if (!is_beside || kept[i] == 0) continue;
      found.slots += kept[i];
      found.by_tenant.emplace_back(tree.tenants[i].name, kept[i]);
    }
  }
  return found.slots == 0 ? std::nullopt : std::optional(std::move(found));
}

}  // namespace tidepool::core
