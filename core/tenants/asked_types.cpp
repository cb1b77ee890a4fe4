#include "core/tenants/asked_types.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/state/measured/type_records.hpp"
#include "core/state/price_cap.hpp"

namespace tidepool::core {

void AskedTypes::reset(const ClusterState& state) {
  std::set<std::string> names;
  for (const auto& [id, node] : state.nodes) {
    if (node.state == NodeState::kUp) names.insert(node.slot_type);
  }
  names_.assign(names.begin(), names.end());
  dearest_ = dearest_slot(state);
  by_demand_.clear();
  sets_.clear();
  guarantees_.clear();
  for (const Tenant& tenant : state.tenants->tenants) {
    SlotsByType& slots = guarantees_.emplace_back();
    for (const std::string& name : names_) slots.push_back(tenant.guarantee_of(name));
  }
}

std::optional<std::size_t> AskedTypes::find(const std::string& type) const {
  const auto found = std::lower_bound(names_.begin(), names_.end(), type);
  if (found == names_.end() || *found != type) return std::nullopt;
  return static_cast<std::size_t>(found - names_.begin());
}

std::optional<std::size_t> AskedTypes::type_of(const Node& node) const {
  return node.state == NodeState::kUp ? find(node.slot_type) : std::nullopt;
}

std::optional<std::size_t> AskedTypes::index_of(std::vector<int> types) {
  if (types.empty() || types.size() == names_.size()) return std::nullopt;
  const auto known = std::find(sets_.begin(), sets_.end(), types);
  if (known != sets_.end()) return static_cast<std::size_t>(known - sets_.begin());
  sets_.push_back(std::move(types));
  return sets_.size() - 1;
}

std::optional<std::size_t> AskedTypes::asked_by(const ClusterState& state, const Job& job) {
  if (names_.size() < 2) return std::nullopt;
  const bool is_bound = is_bound_by_cap(state, job, dearest_);
  if (!is_bound && !is_choosy(job.spec)) return std::nullopt;
  if (const auto bound = bound_type(state, job)) {
    if (const auto type = find(*bound)) return index_of({static_cast<int>(*type)});
  }
  NodeDemand demand = node_demand(job.spec);
  if (is_bound) demand.slot_price_max = slot_price_max(job);
  const auto [known, is_new] = by_demand_.try_emplace(std::move(demand));
  if (is_new) {
    std::set<int> types;
    for (const auto& [id, node] : state.nodes) {
      const auto type = type_of(node);
      const bool may = is_bound ? may_run_within_cap(job, node) : may_run_on(job, node);
      if (type && may) types.insert(static_cast<int>(*type));
    }
    known->second = index_of({types.begin(), types.end()});
  }
  return known->second;
}

AskedTypes::Supply AskedTypes::supply(const ClusterState& state, const TenantNeeds& needs) const {
  Supply supply{.slots = SlotsByType(names_.size(), 0),
                .held = std::vector<SlotsByType>(guarantees_.size(), SlotsByType(names_.size(), 0))};
  for (const auto& [id, node] : state.nodes) {
    const auto type = type_of(node);
    if (!type) continue;
    supply.slots[*type] += node.slots_to_plan();
  }
  for (std::size_t tenant = 0; tenant < needs.by_tenant().size(); ++tenant) {
    for (const JobId id : needs.by_tenant()[tenant].claims) {
      const Job& job = *state.find_job(id);
      const bool asks = needs.find(id)->asks.has_value();
      for (const WorkerId worker : job.membership.workers) {
        const Worker& held = *state.find_worker(worker);
        const auto type = held.is_gone() ? std::nullopt : type_of(*state.find_node(held.node));
        if (!type) continue;
        supply.slots[*type] -= static_cast<int>(held.slots.size());
        if (asks) supply.held[tenant][*type] += static_cast<int>(held.slots.size());
      }
    }
  }
  return supply;
}

}  // namespace tidepool::core
