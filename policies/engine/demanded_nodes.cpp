#include "policies/engine/demanded_nodes.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/state/account.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/price_cap.hpp"

namespace tidepool::policies::cluster {

DemandedNodes::Change DemandedNodes::follow(const core::ClusterState& state) {
  std::vector<NodeId> up;
  for (const auto& [id, node] : state.nodes) {
    if (node.state == core::NodeState::kUp) up.push_back(id);
  }
  asked_.clear();
  count_types(state);
  const bool has_other_prices = look_at_prices(state);
  if (up == nodes_) return {.prices = has_other_prices, .nodes = false};
  nodes_ = std::move(up);
  index_.clear();
  for (std::size_t i = 0; i < nodes_.size(); ++i) index_[nodes_[i]] = static_cast<int>(i);
  demands_.clear();
  return {.prices = has_other_prices, .nodes = true};
}

std::optional<int> DemandedNodes::place_of(NodeId node) const {
  const auto found = index_.find(node);
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

void DemandedNodes::count_types(const core::ClusterState& state) {
  open_.clear();
  std::size_t slots = 0;
  double price = 0;
  for (const auto& [id, node] : state.nodes) {
    if (!node.takes_workers()) continue;
    open_[node.slot_type] += static_cast<int>(node.owners.size());
    slots += node.owners.size();
    price += node.price_per_slot_hour.to_units() * double(node.owners.size());
  }
  slot_price_ = slots > 0 ? price / double(slots) : 0;
}

// Which nodes a price cap leaves follows from them.
bool DemandedNodes::look_at_prices(const core::ClusterState& state) {
  std::set<Money> prices;
  for (const auto& [id, node] : state.nodes) {
    if (node.state == core::NodeState::kUp) prices.insert(node.price_per_slot_hour);
  }
  const Money dearest = core::dearest_slot(state);
  if (dearest == dearest_ && std::equal(prices.begin(), prices.end(), prices_.begin(), prices_.end())) return false;
  dearest_ = dearest;
  prices_.assign(prices.begin(), prices.end());
  return true;
}

bool DemandedNodes::asks_for_nodes(const core::ClusterState& state, const core::Job& job) const {
  return core::asks_for_nodes(state, job, dearest_);
}

core::NodeDemand DemandedNodes::demand_made(const core::ClusterState& state, const core::Job& job) const {
  core::NodeDemand demand = core::node_demand(job.spec);
  if (!core::is_bound_by_cap(state, job, dearest_)) return demand;
  const auto above = std::upper_bound(prices_.begin(), prices_.end(), *core::slot_price_max(job));
  demand.slot_price_max = above == prices_.begin() ? Money::micros(-1) : *std::prev(above);  // -1: no slot
  return demand;
}

std::size_t DemandedNodes::demand_of(const core::ClusterState& state, const core::Job& job) {
  return demands_.try_emplace(demand_made(state, job), demands_.size()).first->second;
}

const DemandedNodes::Asked& DemandedNodes::asked(const core::ClusterState& state, const Asker& asker) {
  const auto& [job, demand] = asker;
  if (asked_.size() <= demand) asked_.resize(demand + 1);
  std::optional<Asked>& asked = asked_[demand];
  if (asked) return *asked;
  asked.emplace();
  const bool is_bound = core::is_bound_by_cap(state, job, dearest_);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const core::Node& node = *state.find_node(nodes_[i]);
    const bool may = is_bound ? core::may_run_within_cap(job, node) : core::may_run_on(job, node);
    if (!may) continue;
    asked->nodes.push_back(static_cast<int>(i));
    asked->of_type[node.slot_type].push_back(static_cast<int>(i));
    if (node.is_closed()) continue;
    asked->slots[node.slot_type] += static_cast<int>(node.owners.size());
    asked->at_prices[node.slot_type][node.price_per_slot_hour] += static_cast<std::int64_t>(node.owners.size());
  }
  return *asked;
}

const std::vector<int>& DemandedNodes::Asked::of(const std::optional<std::string>& type) const {
  const auto found = type ? of_type.find(*type) : of_type.end();
  return found == of_type.end() ? nodes : found->second;
}

int DemandedNodes::reach_of(const core::ClusterState& state, const Asker& asker) {
  const auto bound = core::bound_type(state, asker.job);
  int most = 0;
  int sum = 0;
  for (const auto& [type, slots] : asks_for_nodes(state, asker.job) ? asked(state, asker).slots : open_) {
    if (bound && *bound != type) continue;
    most = std::max(most, slots);
    sum += slots;
  }
  return asker.job.spec.mixed_types ? sum : most;
}

std::optional<Money> DemandedNodes::SizePrices::of(int slots) const {
  const int more = slots - held_slots;
  const auto each = rooms.each_of(more);
  if (!each) return std::nullopt;
  return held + Money::micros(each->count_micros() * more);
}

DemandedNodes::SizePrices DemandedNodes::prices_of(const core::ClusterState& state, const Asker& asker,
                                                   const Placement& held) {
  const core::Job& job = asker.job;
  const Asked& nodes = asked(state, asker);
  const auto bound = core::bound_type(state, job);
  core::RoomsByPrice::OfTypes rooms;
  const auto add = [&](const std::string& type, Money price, std::int64_t slots) {
    if (bound && *bound != type) return;
    rooms[job.spec.mixed_types ? std::string() : type][price] += slots;
  };
  for (const auto& [type, by_price] : nodes.at_prices) {
    for (const auto& [price, slots] : by_price) add(type, price, slots);
  }
  for (const Share& share : held) {
    const core::Node& node = *state.find_node(nodes_[static_cast<std::size_t>(share.node)]);
    const bool is_counted = !node.is_closed() && std::binary_search(nodes.nodes.begin(), nodes.nodes.end(), share.node);
    if (is_counted) add(node.slot_type, node.price_per_slot_hour, -share.slots);
  }
  return {.held = core::price_per_hour(state, job), .held_slots = size_of(held), .rooms = core::RoomsByPrice(rooms)};
}

}  // namespace tidepool::policies::cluster
