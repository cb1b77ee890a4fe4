#include "core/tenants/tenant_nodes.hpp"

#include <algorithm>

#include "core/state/membership.hpp"

namespace tidepool::core {
namespace {

// That has the node to itself; null = none has.
const Job* exclusive_job_on(const ClusterState& state, const Node& node) {
  for (const WorkerId owner : node.owners) {
    const Job* job = owner ? state.find_job(state.find_worker(owner)->job) : nullptr;
    if (job != nullptr && job->spec.placement.exclusive) return job;
  }
  return nullptr;
}

}  // namespace

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

PoolSlots slots_to_share(const ClusterState& state) {
  PoolSlots slots = 0;
  std::map<JobId, int> alone;  // free slots of the nodes that these have to themselves
  for (const auto& [id, node] : state.nodes) {
    if (node.state != NodeState::kUp) continue;
    slots.all += node.slots_to_plan();
    const int free = node.takes_workers() ? node.slots_free() : 0;
    if (free == 0 || free == static_cast<int>(node.owners.size())) continue;
    if (const Job* job = exclusive_job_on(state, node)) alone[job->id] += free;
  }
  for (const auto& [id, free] : alone) {
    const Job& job = *state.find_job(id);
    const int may_grow = (job.spec.elastic.sizes.back() - size_with_joining(job)) * job.spec.gpus_per_worker;
    slots.closed += std::max(0, free - std::max(0, may_grow));
  }
  return slots;
}

}  // namespace tidepool::core
