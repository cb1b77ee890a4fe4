#include "core/decide/room_search.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "core/decide/open_slots.hpp"

namespace tidepool::core {

// Sooner or later: what keeps its job from a change now passes. One that was started a moment ago is left alone, so
// that a decision says the same before and after it was accepted.
std::optional<double> MovableWorkers::cost_of(const Worker& worker) {
  if (worker.is_gone() || worker.started_at >= draft_.now()) return std::nullopt;
  const auto [cost, is_first] = costs_.try_emplace(worker.job);
  if (is_first) {
    const Job& job = *draft_.state().find_job(worker.job);
    if (may_move(job) && !draft_.ends(job.id) && fits_elsewhere(job)) cost->second = cost_of_moving(job, 1);
  }
  return cost->second;
}

// Its workers could be on slots that the waiting job does not ask for: all of them on one type, unless it mixes
// types.
bool MovableWorkers::fits_elsewhere(const Job& job) {
  const int needed = job.spec.mixed_types ? 1 : size_to_be(job);
  const std::map<std::string, int>& workers = workers_elsewhere(job);
  return std::any_of(workers.begin(), workers.end(), [&](const auto& entry) { return entry.second >= needed; });
}

// How many workers of the job an empty cluster holds on nodes that the waiting job does not ask for, by type.
const std::map<std::string, int>& MovableWorkers::workers_elsewhere(const Job& job) {
  const Asked asked{job.spec.gpus_per_worker, node_demand(job.spec)};
  const auto [workers, is_first] = workers_elsewhere_.try_emplace(asked);
  if (!is_first) return workers->second;
  for (const auto& [id, node] : draft_.state().nodes) {
    if (!node.takes_workers() || !may_run_on(job, node) || may_run_on(waiting_, node)) continue;
    workers->second[node.slot_type] += static_cast<int>(node.owners.size()) / job.spec.gpus_per_worker;
  }
  return workers->second;
}

TypeRoom RoomSearch::find() {
  const MoveCosts* known = each_ == 1 ? draft_.move_costs() : nullptr;
  return known != nullptr ? find_by_cost(*known) : find_on_nodes();
}

bool RoomSearch::is_open(const Node& node) const {
  return may_hold(draft_, node, waiting_);
}

bool RoomSearch::is_on_open_node(const Worker& worker) const {
  return is_open(*draft_.state().find_node(worker.node));
}

const std::string* RoomSearch::only_type() const {
  return waiting_.spec.slot_types.size() == 1 ? &waiting_.spec.slot_types.front() : nullptr;
}

// Of single slots those that are cheapest to move are the cheapest on any node: they need no look at all nodes.
TypeRoom RoomSearch::find_by_cost(const MoveCosts& known) {
  TypeRoom room;
  int open = draft_.free_slots().free_for(waiting_) + slots_coming(known);
  room.coming = open >= needed();
  room.holder = holder_of_most(known);
  const std::set<MoveCosts::Mover>& cheapest_first = known.cheapest_first(only_type());
  for (auto mover = cheapest_first.begin(); open < needed(); ++mover) {
    if (mover == cheapest_first.end()) return {.movers = {}, .holder = room.holder};
    const Worker& worker = *draft_.state().find_worker(mover->worker);
    if (!is_on_open_node(worker) || leaving_.contains(worker.id) || !movable_.cost_of(worker)) continue;
    room.cost_s += mover->cost_s;
    room.movers.push_back(worker.id);
    ++open;
  }
  add_gangs(room);
  return room;
}

// Of workers that leave, or are on their way out.
int RoomSearch::slots_coming(const MoveCosts& known) const {
  IdSet<WorkerId> coming = leaving_;
  coming.insert(known.on_their_way_out());
  int slots = 0;
  for (const WorkerId id : coming) {
    const Worker& worker = *draft_.state().find_worker(id);
    if (!worker.is_gone() && is_on_open_node(worker)) slots += static_cast<int>(worker.slots.size());
  }
  return slots;
}

// Of equals the lowest. One that holds fewer slots in all than another does there is not looked at.
JobId RoomSearch::holder_of_most(const MoveCosts& known) const {
  MoveCosts::Held most;
  for (const MoveCosts::Held& held : known.most_held_first(only_type())) {
    if (most < held) break;
    int slots = 0;
    for (const WorkerId id : draft_.state().find_job(held.second)->membership.workers) {
      const Worker& worker = *draft_.state().find_worker(id);
      if (is_on_open_node(worker)) slots += static_cast<int>(worker.slots.size());
    }
    if (slots > 0) most = std::min(most, {-slots, held.second});
  }
  return most.second;
}

TypeRoom RoomSearch::find_on_nodes() {
  for (const auto& [id, node] : draft_.state().nodes) {
    if (is_open(node)) look_at(node);
  }
  TypeRoom room;
  int workers = 0;
  for (const OpenNode& node : nodes_) workers += node.open / each_;
  room.coming = workers >= needed();
  room.holder = holder_of_most();
  for (; workers < needed(); ++workers) {
    if (!move_cheapest(room)) return {.movers = {}, .holder = room.holder};
  }
  add_gangs(room);
  return room;
}

void RoomSearch::look_at(const Node& node) {
  OpenNode place{.open = static_cast<int>(draft_.free_slots().free_on(node.id)), .movers = {}};
  for (auto owner = node.owners.begin(); owner != node.owners.end(); ++owner) {
    const WorkerId id = *owner;
    if (!id || std::find(node.owners.begin(), owner, id) != owner) continue;
    const Worker& worker = *draft_.state().find_worker(id);
    const int slots = static_cast<int>(worker.slots.size());
    held_by_[worker.job] += slots;
    if (comes_free(draft_.state(), worker, leaving_)) {
      place.open += slots;
    } else if (const auto cost = movable_.cost_of(worker)) {
      place.movers.push_back({*cost, id, slots});
    }
  }
  std::sort(place.movers.begin(), place.movers.end(), [](const Mover& one, const Mover& other) {
    return std::pair(one.cost_s, one.worker) < std::pair(other.cost_s, other.worker);
  });
  nodes_.push_back(std::move(place));
}

// Of equals the lowest.
JobId RoomSearch::holder_of_most() const {
  JobId holder;
  int most = 0;
  for (const auto& [job, slots] : held_by_) {
    if (slots > most) std::tie(most, holder) = std::pair(slots, job);
  }
  return holder;
}

// None: no moves make room for one more there.
std::optional<RoomSearch::NextMoves> RoomSearch::next_moves(OpenNode& node) const {
  NextMoves next{.node = &node, .moved = node.moved};
  int open = node.open;
  while (open / each_ == node.open / each_ && next.moved < node.movers.size()) {
    next.cost_s += node.movers[next.moved].cost_s;
    open += node.movers[next.moved++].slots;
  }
  return open / each_ == node.open / each_ ? std::nullopt : std::optional(next);
}

// One more worker of the waiting job fits on the node where that is cheapest; of equals on the lower one.
bool RoomSearch::move_cheapest(TypeRoom& room) {
  NextMoves best;
  for (OpenNode& node : nodes_) {
    const auto next = next_moves(node);
    if (next && (best.node == nullptr || next->cost_s < best.cost_s)) best = *next;
  }
  if (best.node == nullptr) return false;
  room.cost_s += best.cost_s;
  for (OpenNode& node = *best.node; node.moved < best.moved; ++node.moved) {
    const Mover& mover = node.movers[node.moved];
    node.open += mover.slots;
    room.movers.push_back(mover.worker);
  }
  return true;
}

// A job that is on one type at a time moves as a whole.
void RoomSearch::add_gangs(TypeRoom& room) const {
  IdSet<WorkerId> moving(room.movers.begin(), room.movers.end());
  for (const WorkerId id : std::vector<WorkerId>(room.movers)) {
    const Job& job = *draft_.state().find_job(draft_.state().find_worker(id)->job);
    for (const WorkerId member : workers_to_be(job)) {
      const bool is_gone = draft_.state().find_worker(member) == nullptr;
      if (job.spec.mixed_types || is_gone || !moving.insert(member)) continue;
      room.movers.push_back(member);
      room.cost_s += cost_of_moving(job, 1);
    }
  }
}

}  // namespace tidepool::core
