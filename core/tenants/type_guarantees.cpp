#include "core/tenants/type_guarantees.hpp"

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

}  // namespace

TypeGuarantees::TypeGuarantees(const ClusterState& state) : state_(state) {
  const auto& tenants = state.tenants->tenants;
  if (std::all_of(tenants.begin(), tenants.end(), [](const Tenant& any) { return any.guarantee_by_type.empty(); })) {
    return;
  }
  for (const auto& [id, worker] : state.workers) {
    const Job& job = *state.find_job(worker.job);
    if (worker.is_gone() || !is_choosy(job.spec)) continue;
    held_[{job.spec.tenant, state.find_node(worker.node)->slot_type}] += static_cast<int>(worker.slots.size());
  }
  // Each tenant stands after its parent, so from the end on every sum is whole before it is added.
  for (auto tenant = tenants.rbegin(); tenant != tenants.rend(); ++tenant) {
    if (tenant->parent.empty()) continue;
    const auto from = held_.lower_bound({tenant->name, {}});
    for (auto held = from; held != held_.end() && held->first.first == tenant->name; ++held) {
      held_[{tenant->parent, held->first.second}] += held->second;
    }
  }
}

int TypeGuarantees::held(std::string_view tenant, std::string_view type) const {
  const auto found = held_.find({tenant, type});
  return found == held_.end() ? 0 : found->second;
}

bool TypeGuarantees::spare(const Job& job, Held& gone) const {
  std::map<std::string_view, int> slots;
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *state_.find_worker(id);
    slots[state_.find_node(worker.node)->slot_type] += static_cast<int>(worker.slots.size());
  }
  const auto path = state_.tenants->path_to(job.spec.tenant);
  for (const Tenant* tenant : path) {
    for (const auto& [type, promised] : tenant->guarantee_by_type) {
      const auto given = slots.find(type);
      if (given == slots.end()) continue;
      if (held(tenant->name, type) - gone[{tenant->name, type}] - given->second < promised) return false;
    }
  }
  for (const Tenant* tenant : path) {
    for (const auto& [type, count] : slots) gone[{tenant->name, type}] += count;
  }
  return true;
}

bool TypeGuarantees::cover(const Job& job, int slots) const {
  for (const Tenant* tenant : state_.tenants->path_to(job.spec.tenant)) {
    for (const auto& [type, promised] : tenant->guarantee_by_type) {
      if (promised - held(tenant->name, type) >= slots && may_run_on_type(state_, job, type)) return true;
    }
  }
  return false;
}

bool TypeGuarantees::are_claimed_by(const Job& job) const {
  if (job.state() != JobState::kPending || !is_choosy(job.spec)) return false;
  return cover(job, job.spec.elastic.sizes.front() * job.spec.gpus_per_worker);
}

}  // namespace tidepool::core
