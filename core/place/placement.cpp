#include "core/place/placement.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace tidepool::core {
namespace {

bool usable(const Node& node) {
  return node.state == NodeState::kUp && !node.cordoned;
}

std::size_t free_in(const Node& node) {
  return static_cast<std::size_t>(std::count(node.owners.begin(), node.owners.end(), WorkerId()));
}

}  // namespace

FreeSlots::FreeSlots(const ClusterState& state) : state_(state) {
  for (const auto& [id, node] : state.nodes) {
    if (!usable(node)) continue;
    const std::size_t free = free_in(node);
    if (free >= nodes_with_.size()) nodes_with_.resize(free + 1);
    nodes_with_[free].push_back(id);
    free_ += static_cast<int>(free);
  }
}

int FreeSlots::room_for(int slots_per_worker) const {
  return room_for({.slots_per_worker = slots_per_worker});
}

int FreeSlots::room_for(const Job& job) const {
  return room_for({.slots_per_worker = job.spec.gpus_per_worker, .slot_types = job.spec.slot_types});
}

int FreeSlots::room_for(const GangRequest& gang) const {
  const bool is_picky = gang.price_max || !gang.slot_types.empty() || !gang.other_than.empty();
  std::size_t workers = 0;
  for (std::size_t free = 0; free < nodes_with_.size(); ++free) {
    const auto& nodes = nodes_with_[free];
    const auto open = is_picky ? static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(),
                                                                        [&](NodeId id) { return suits(id, gang); }))
                               : nodes.size();
    workers += open * (free / static_cast<std::size_t>(gang.slots_per_worker));
  }
  const int room = static_cast<int>(workers);
  const Node* avoided = gang.avoid_always ? state_.find_node(gang.avoid) : nullptr;
  if (avoided == nullptr || !usable(*avoided) || !suits(gang.avoid, gang)) return room;
  return room - static_cast<int>(free_on(gang.avoid)) / gang.slots_per_worker;
}

void FreeSlots::close(const std::vector<std::string>& slot_types) {
  for (std::size_t slots = 0; slots < nodes_with_.size(); ++slots) {
    std::erase_if(nodes_with_[slots], [&](NodeId id) {
      if (!is_of_type(*state_.find_node(id), slot_types)) return false;
      free_ -= static_cast<int>(slots);
      closed_.insert(id);
      return true;
    });
  }
}

int FreeSlots::free_of(const std::vector<std::string>& slot_types) const {
  if (slot_types.empty()) return free_;
  std::size_t free = 0;
  for (std::size_t slots = 1; slots < nodes_with_.size(); ++slots) {
    for (const NodeId id : nodes_with_[slots]) free += is_of_type(*state_.find_node(id), slot_types) ? slots : 0;
  }
  return static_cast<int>(free);
}

std::optional<std::vector<WorkerPlacement>> FreeSlots::take(GangRequest gang, std::uint64_t& next_worker) {
  if (gang.workers < 1 || room_for(gang) < gang.workers) return std::nullopt;
  std::vector<WorkerPlacement> placements;
  for (int left = gang.workers; left > 0; --left) {
    const NodeId node = choose(gang, left);
    TP_CHECK(node, "a gang that fits finds a node for each worker");
    const auto slots = static_cast<std::size_t>(gang.slots_per_worker);
    const std::size_t free = free_on(node);
    auto& taken = taken_on_[node];
    const auto& owners = state_.find_node(node)->owners;
    WorkerPlacement placement{WorkerId(next_worker++), node, {}};
    for (std::size_t slot = 0; placement.slots.size() < slots; ++slot) {
      const int index = static_cast<int>(slot);
      if (!owners.at(slot) && !std::binary_search(taken.begin(), taken.end(), index)) placement.slots.push_back(index);
    }
    taken.insert(taken.end(), placement.slots.begin(), placement.slots.end());
    std::sort(taken.begin(), taken.end());
    move(node, free, free - slots);
    if (gang.pack) gang.prefer.insert(node);
    placements.push_back(std::move(placement));
  }
  return placements;
}

NodeId FreeSlots::choose(const GangRequest& gang, int workers_left) const {
  const auto need = static_cast<std::size_t>(gang.slots_per_worker);
  if (workers_left == gang.workers && gang.first_on) {
    const Node* node = state_.find_node(gang.first_on);
    const bool open = node != nullptr && usable(*node) && suits(gang.first_on, gang);
    if (open && free_on(gang.first_on) >= need) return gang.first_on;
  }
  if (!spared_.empty() && gang.slot_types.empty() && gang.other_than.empty()) {
    GangRequest elsewhere = gang;
    elsewhere.other_than.assign(spared_.begin(), spared_.end());
    if (const NodeId id = best_of(elsewhere, workers_left)) return id;
  }
  const NodeId id = best_of(gang, workers_left);
  return id ? id : gang.avoid;
}

// None if only the avoided node has room.
NodeId FreeSlots::best_of(const GangRequest& gang, int workers_left) const {
  const auto need = static_cast<std::size_t>(gang.slots_per_worker);
  if (gang.pack) {
    for (const NodeId id : gang.prefer) {
      const Node* node = state_.find_node(id);
      const bool open = node != nullptr && usable(*node) && id != gang.avoid && suits(id, gang);
      if (open && free_on(id) >= need) return id;
    }
    // The smallest node that takes all that is left, else the emptiest one.
    for (std::size_t free = need * static_cast<std::size_t>(workers_left); free < nodes_with_.size(); ++free) {
      if (const NodeId id = first_with(free, gang)) return id;
    }
    for (std::size_t free = nodes_with_.size(); free-- > need;) {
      if (const NodeId id = first_with(free, gang)) return id;
    }
    return {};
  }
  for (std::size_t free = need; free < nodes_with_.size(); ++free) {
    if (const NodeId id = first_with(free, gang)) return id;
  }
  return {};
}

NodeId FreeSlots::first_with(std::size_t slots, const GangRequest& gang) const {
  for (const NodeId id : nodes_with_[slots]) {
    if (id != gang.avoid && suits(id, gang)) return id;
  }
  return {};
}

bool FreeSlots::suits(NodeId id, const GangRequest& gang) const {
  const Node& node = *state_.find_node(id);
  if (!gang.other_than.empty() && is_of_type(node, gang.other_than)) return false;
  return (!gang.price_max || node.price_per_slot_hour <= *gang.price_max) && is_of_type(node, gang.slot_types);
}

std::size_t FreeSlots::free_on(NodeId node) const {
  if (!usable(*state_.find_node(node)) || closed_.contains(node)) return 0;
  const auto taken = taken_on_.find(node);
  return free_in(*state_.find_node(node)) - (taken == taken_on_.end() ? 0 : taken->second.size());
}

void FreeSlots::move(NodeId node, std::size_t from, std::size_t to) {
  std::erase(nodes_with_[from], node);
  auto& target = nodes_with_[to];
  target.insert(std::lower_bound(target.begin(), target.end(), node), node);
  free_ += static_cast<int>(to) - static_cast<int>(from);
}

bool is_of_type(const Node& node, const std::vector<std::string>& slot_types) {
  return slot_types.empty() || std::find(slot_types.begin(), slot_types.end(), node.slot_type) != slot_types.end();
}

int empty_cluster_capacity(const ClusterState& state, int slots_per_worker,
                           const std::vector<std::string>& slot_types) {
  int workers = 0;
  for (const auto& [id, node] : state.nodes) {
    if (usable(node) && is_of_type(node, slot_types))
      workers += static_cast<int>(node.owners.size()) / slots_per_worker;
  }
  return workers;
}

}  // namespace tidepool::core
