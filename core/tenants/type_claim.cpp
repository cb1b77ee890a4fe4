#include "core/tenants/type_claim.hpp"

#include <algorithm>

#include "core/state/node_constraints.hpp"

namespace tidepool::core {
namespace {

bool may_run_on_type(const ClusterState& state, const Job& job, const std::string& type) {
  return std::any_of(state.nodes.begin(), state.nodes.end(), [&](const auto& entry) {
    const Node& node = entry.second;
    return node.slot_type == type && node.takes_workers() && may_run_on(job, node);
  });
}

// By jobs of the tenant, and of those below it, that ask for particular nodes.
int held_of_type(const ClusterState& state, const Tenant& tenant, const std::string& type) {
  int slots = 0;
  for (const auto& [id, worker] : state.workers) {
    const Job& job = *state.find_job(worker.job);
    if (worker.is_gone() || !is_choosy(job.spec) || state.find_node(worker.node)->slot_type != type) continue;
    const auto path = state.tenants->path_to(job.spec.tenant);
    if (std::find(path.begin(), path.end(), &tenant) != path.end()) slots += static_cast<int>(worker.slots.size());
  }
  return slots;
}

}  // namespace

bool guarantees_types(const TenantTree& tree) {
  return std::any_of(tree.tenants.begin(), tree.tenants.end(),
                     [](const Tenant& tenant) { return !tenant.guarantee_by_type.empty(); });
}

bool guarantee_covers_type(const ClusterState& state, const Job& job, int slots) {
  for (const Tenant* tenant : state.tenants->path_to(job.spec.tenant)) {
    for (const auto& [type, promised] : tenant->guarantee_by_type) {
      if (promised < slots || !may_run_on_type(state, job, type)) continue;
      if (promised - held_of_type(state, *tenant, type) >= slots) return true;
    }
  }
  return false;
}

bool claims_guaranteed_type(const ClusterState& state, const Job& job) {
  if (job.state() != JobState::kPending || !is_choosy(job.spec)) return false;
  return guarantee_covers_type(state, job, job.spec.elastic.sizes.front() * job.spec.gpus_per_worker);
}

}  // namespace tidepool::core
