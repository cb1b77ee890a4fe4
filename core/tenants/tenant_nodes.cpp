#include "core/tenants/tenant_nodes.hpp"

namespace tidepool::core {

TenantPlaces places_of(const TenantTree& tree) {
  TenantPlaces places;
  for (const Tenant& tenant : tree.tenants) places.emplace(tenant.name, places.size());
  return places;
}

std::vector<TenantNode> nodes_of(const TenantTree& tree, const TenantPlaces& places) {
  std::vector<TenantNode> nodes;
  nodes.reserve(tree.tenants.size());
  for (const Tenant& tenant : tree.tenants) {
    const int parent = tenant.parent.empty() ? -1 : static_cast<int>(places.at(tenant.parent));
    nodes.push_back({.parent = parent,
                     .guarantee = tenant.guarantee,
                     .weight = tenant.weight,
                     .borrow = tenant.borrow,
                     .lend = tenant.lend});
  }
  return nodes;
}

std::vector<TenantNode> nodes_as_planned(const ClusterState& state, const TenantPlaces& places) {
  std::vector<TenantNode> nodes = nodes_of(*state.tenants, places);
  for (const auto& [name, plan] : state.plan.tenants) {
    const auto place = places.find(name);
    if (place == places.end()) continue;
    nodes[place->second].wanted = plan.wanted;
    nodes[place->second].loan = plan.loan * kLoanWeight;
  }
  return nodes;
}

int slots_to_share(const ClusterState& state) {
  int slots = 0;
  for (const auto& [id, node] : state.nodes) {
    if (node.state == NodeState::kUp) slots += node.slots_to_plan();
  }
  return slots;
}

}  // namespace tidepool::core
