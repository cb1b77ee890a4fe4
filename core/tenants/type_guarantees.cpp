#include "core/tenants/type_guarantees.hpp"

#include <algorithm>
#include <utility>

#include "core/state/node_constraints.hpp"
#include "core/state/price_cap.hpp"

namespace tidepool::core {
namespace {

bool may_run_on_type(const ClusterState& state, const Job& job, const std::string& type) {
  return std::any_of(state.nodes.begin(), state.nodes.end(), [&](const auto& entry) {
    const Node& node = entry.second;
    return node.slot_type == type && node.takes_workers() && may_run_within_cap(job, node);
  });
}

}  // namespace

TypeGuarantees::TypeGuarantees(const ClusterState& state) : state_(state) {
  const auto& tenants = state.tenants->tenants;
  if (std::all_of(tenants.begin(), tenants.end(), [](const Tenant& any) { return any.guarantee_by_type.empty(); })) {
    return;
  }
  const Money dearest = dearest_slot(state);
  for (const auto& [id, job] : state.jobs) {
    if (is_bound_by_cap(state, *job, dearest)) bound_by_cap_.insert(id);
  }
  for (const auto& [id, worker] : state.workers) {
    const Job& job = *state.find_job(worker.job);
    if (worker.is_gone() || !asks(job)) continue;
    held_[{job.spec.tenant, state.find_node(worker.node)->slot_type}] += static_cast<int>(worker.slots.size());
  }
  // Each tenant comes after its parent, so from the end each sum is complete before it is added.
  for (auto tenant = tenants.rbegin(); tenant != tenants.rend(); ++tenant) {
    if (tenant->parent.empty()) continue;
    const auto from = held_.lower_bound({tenant->name, {}});
    for (auto held = from; held != held_.end() && held->first.first == tenant->name; ++held) {
      held_[{tenant->parent, held->first.second}] += held->second;
    }
  }
}

bool TypeGuarantees::asks(const Job& job) const {
  return is_choosy(job.spec) || bound_by_cap_.contains(job.id);
}

int TypeGuarantees::held(std::string_view tenant, std::string_view type) const {
  const auto found = held_.find({tenant, type});
  return found == held_.end() ? 0 : found->second;
}

void TypeGuarantees::add_to(Held& gone, const Worker& worker) const {
  const Job& job = *state_.find_job(worker.job);
  if (worker.is_gone() || !asks(job)) return;  // never counted among the held slots
  const std::string& type = state_.find_node(worker.node)->slot_type;
  for (const Tenant* tenant : state_.tenants->path_to(job.spec.tenant)) {
    gone[{tenant->name, type}] += static_cast<int>(worker.slots.size());
  }
}

bool TypeGuarantees::spare(const Job& job, Held& gone) const {
  Held with_it = gone;
  for (const WorkerId id : job.membership.workers) add_to(with_it, *state_.find_worker(id));
  for (const Tenant* tenant : state_.tenants->path_to(job.spec.tenant)) {
    for (const auto& [type, promised] : tenant->guarantee_by_type) {
      const std::pair<std::string_view, std::string_view> key(tenant->name, type);
      const auto after = with_it.find(key);
      const auto before = gone.find(key);
      const int given = after == with_it.end() ? 0 : after->second - (before == gone.end() ? 0 : before->second);
      if (given > 0 && held(tenant->name, type) - after->second < promised) return false;
    }
  }
  gone = std::move(with_it);
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
  if (job.state() != JobState::kPending || !asks(job)) return false;
  return cover(job, job.spec.smallest_slots());
}

}  // namespace tidepool::core
