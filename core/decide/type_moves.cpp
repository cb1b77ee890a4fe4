#include "core/decide/type_moves.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/decide/open_slots.hpp"
#include "core/decide/size_planner.hpp"
#include "core/place/node_wait.hpp"
#include "core/place/placement.hpp"
#include "core/place/together.hpp"
#include "core/state/job_state.hpp"
#include "core/state/membership.hpp"
#include "core/state/node_labels.hpp"

namespace tidepool::core {
namespace {

constexpr int kLooksMax = 32;

Instant waiting_since(const Job& job) {
  Instant since = job.submitted_at;
  if (job.last_start_at) since = std::max(since, *job.last_start_at);
  if (job.progress.reported_at) since = std::max(since, *job.progress.reported_at);
  return job.recovery.suspended ? std::max(since, job.recovery.suspended->at) : since;
}

struct Mover {
  double cost_s = 0;
  WorkerId worker;
  int slots = 0;
};

// A node on which the waiting job may run.
struct NodeRoom {
  int open = 0;               // slots that are free, or will be
  std::vector<Mover> movers;  // cheapest first
  std::size_t moved = 0;      // so many of them are taken to have left
};

class RoomSearch {
 public:
  RoomSearch(DecisionDraft& draft, const Job& waiting, const IdSet<WorkerId>& leaving)
      : draft_(draft), waiting_(waiting), leaving_(leaving), each_(waiting.spec.gpus_per_worker) {}

  // Of single slots those that are cheapest to move are the cheapest on any node: they need no look at all nodes.
  TypeRoom find() {
    const MoveCosts* known = each_ == 1 ? draft_.move_costs() : nullptr;
    return known != nullptr ? find_by_cost(*known) : find_on_nodes();
  }

 private:
  [[nodiscard]] bool is_open(const Node& node) const { return may_hold(draft_, node, waiting_); }
  [[nodiscard]] bool is_on_open_node(const Worker& worker) const {
    return is_open(*draft_.state().find_node(worker.node));
  }
  [[nodiscard]] int needed() const { return waiting_.spec.elastic.sizes.front(); }
  // Null: it may be on more.
  [[nodiscard]] const std::string* only_type() const {
    return waiting_.spec.slot_types.size() == 1 ? &waiting_.spec.slot_types.front() : nullptr;
  }

  TypeRoom find_by_cost(const MoveCosts& known) {
    TypeRoom room;
    IdSet<WorkerId> coming = leaving_;
    coming.insert(known.on_their_way_out());
    int open = draft_.free_slots().free_for(waiting_);
    for (const WorkerId id : coming) {
      const Worker& worker = *draft_.state().find_worker(id);
      if (!worker.is_gone() && is_on_open_node(worker)) open += static_cast<int>(worker.slots.size());
    }
    room.coming = open >= needed();
    room.holder = holder_of_most(known);
    const std::set<MoveCosts::Mover>& cheapest_first = known.cheapest_first(only_type());
    for (auto mover = cheapest_first.begin(); open < needed(); ++mover) {
      if (mover == cheapest_first.end()) return {.movers = {}, .holder = room.holder};
      const Worker& worker = *draft_.state().find_worker(mover->worker);
      if (!is_on_open_node(worker) || leaving_.contains(worker.id) || !cost_if_it_may_move(worker)) continue;
      room.cost_s += mover->cost_s;
      room.movers.push_back(worker.id);
      ++open;
    }
    add_gangs(room);
    return room;
  }

  // Of equals the lowest. One that holds fewer slots in all than another does there is not looked at.
  [[nodiscard]] JobId holder_of_most(const MoveCosts& known) const {
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

  TypeRoom find_on_nodes() {
    for (const auto& [id, node] : draft_.state().nodes) {
      if (is_open(node)) look_at(node);
    }
    TypeRoom room;
    int workers = 0;
    for (const auto& [id, place] : places_) workers += place.open / each_;
    room.coming = workers >= needed();
    int most = 0;
    for (const auto& [job, slots] : held_by_) {
      if (slots > most) std::tie(most, room.holder) = std::pair(slots, job);
    }
    for (; workers < needed(); ++workers) {
      if (!move_cheapest(room)) return {.movers = {}, .holder = room.holder};
    }
    add_gangs(room);
    return room;
  }

  void look_at(const Node& node) {
    NodeRoom place{.open = static_cast<int>(draft_.free_slots().free_on(node.id)), .movers = {}};
    for (auto owner = node.owners.begin(); owner != node.owners.end(); ++owner) {
      const WorkerId id = *owner;
      if (!id || std::find(node.owners.begin(), owner, id) != owner) continue;
      const Worker& worker = *draft_.state().find_worker(id);
      const int slots = static_cast<int>(worker.slots.size());
      held_by_[worker.job] += slots;
      if (comes_free(draft_.state(), worker, leaving_)) {
        place.open += slots;
      } else if (const auto cost = cost_if_it_may_move(worker)) {
        place.movers.push_back({*cost, id, slots});
      }
    }
    std::sort(place.movers.begin(), place.movers.end(), [](const Mover& one, const Mover& other) {
      return std::pair(one.cost_s, one.worker) < std::pair(other.cost_s, other.worker);
    });
    places_.emplace_back(node.id, std::move(place));
  }

  // Sooner or later: what keeps its job from a change now passes. One that was started a moment ago is left alone, so
  // that a decision says the same before and after it was accepted.
  [[nodiscard]] std::optional<double> cost_if_it_may_move(const Worker& worker) {
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
  [[nodiscard]] bool fits_elsewhere(const Job& job) {
    const int needed = job.spec.mixed_types ? 1 : size_to_be(job);
    const std::map<std::string, int>& workers = workers_elsewhere(job);
    return std::any_of(workers.begin(), workers.end(), [&](const auto& entry) { return entry.second >= needed; });
  }

  // How many workers of the job an empty cluster holds on nodes that the waiting job does not ask for, by type.
  const std::map<std::string, int>& workers_elsewhere(const Job& job) {
    const Asked asked{job.spec.gpus_per_worker, node_demand(job.spec)};
    const auto [workers, is_first] = workers_elsewhere_.try_emplace(asked);
    if (!is_first) return workers->second;
    for (const auto& [id, node] : draft_.state().nodes) {
      if (!node.takes_workers() || !may_run_on(job, node) || may_run_on(waiting_, node)) continue;
      workers->second[node.slot_type] += static_cast<int>(node.owners.size()) / job.spec.gpus_per_worker;
    }
    return workers->second;
  }

  // A job that is on one type at a time moves as a whole.
  void add_gangs(TypeRoom& room) const {
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

  // One more worker of the waiting job fits on the node where that is cheapest.
  bool move_cheapest(TypeRoom& room) {
    NodeRoom* best = nullptr;
    std::size_t best_moved = 0;
    double best_cost = 0;
    for (auto& [id, place] : places_) {
      double cost = 0;
      int open = place.open;
      std::size_t moved = place.moved;
      while (open / each_ == place.open / each_ && moved < place.movers.size()) {
        cost += place.movers[moved].cost_s;
        open += place.movers[moved++].slots;
      }
      if (open / each_ == place.open / each_ || (best != nullptr && cost >= best_cost)) continue;
      best = &place;
      best_moved = moved;
      best_cost = cost;
    }
    if (best == nullptr) return false;
    room.cost_s += best_cost;
    for (; best->moved < best_moved; ++best->moved) {
      const Mover& mover = best->movers[best->moved];
      best->open += mover.slots;
      room.movers.push_back(mover.worker);
    }
    return true;
  }

  DecisionDraft& draft_;
  const Job& waiting_;
  const IdSet<WorkerId>& leaving_;
  int each_;
  std::vector<std::pair<NodeId, NodeRoom>> places_;  // by id
  IdTable<JobId, int> held_by_;
  IdTable<JobId, std::optional<double>> costs_;  // of moving a worker of the job; none = it stays
  using Asked = std::pair<int, NodeDemand>;      // of nodes, with their slots
  std::map<Asked, std::map<std::string, int>> workers_elsewhere_;
};

int slots_moved(const Job& job) {
  return job.spec.gpus_per_worker * (job.spec.mixed_types ? 1 : job.size());
}

// Boots the successor of one worker elsewhere, or of all workers of a job that is on one type at a time. False if there
// is no room for it.
bool move(DecisionDraft& draft, const Worker& worker, const Job& waiting, const Reason& reason) {
  const Job& job = *draft.state().find_job(worker.job);
  const bool whole = !job.spec.mixed_types;
  if (draft.usable() < slots_moved(job)) return false;
  const std::vector<WorkerId> leaving = whole ? job.membership.members : std::vector{worker.id};
  GangRequest request = gang_beside_members(draft.state(), job, whole ? job.size() : 1, leaving);
  request.avoid = worker.node;
  request.avoid_always = true;
  request.slot_types = job.spec.slot_types;
  request.not_for = &waiting;
  request.one_type = whole;
  // A job with a cap on its price moves to no dearer slot.
  if (job.spec.scaling.price_cap) request.price_max = draft.state().find_node(worker.node)->price_per_slot_hour;
  auto places = draft.free_slots().take(std::move(request), draft.next_worker());
  if (!places) return false;
  if (whole) {
    draft.conclude(job, MoveIntent{job.id, *std::move(places), job.membership.members, ReplaceCause::kSlotType},
                   reason);
  } else {
    draft.conclude(job, ReplaceIntent{job.id, std::move(places->front()), worker.id, ReplaceCause::kSlotType}, reason);
  }
  return true;
}

// How often its waiting has doubled, from a second on.
int looks_for_room(const Job& waiting, Instant now) {
  const Duration waited = now - waiting_since(waiting);
  int looks = 0;
  for (Duration next = Duration::seconds(1); looks < kLooksMax && next <= waited; next = next * 2) ++looks;
  return looks;
}

}  // namespace

TypeRoom room_of_type(DecisionDraft& draft, const Job& waiting, const IdSet<WorkerId>& leaving) {
  if (has_gang_rule(waiting.spec)) return {.coming = OpenSlots(draft, waiting, leaving).fits()};
  return RoomSearch(draft, waiting, leaving).find();
}

int move_away(DecisionDraft& draft, const Job& waiting, const TypeRoom& room) {
  const Duration waited = draft.now() - waiting_since(waiting);
  const int needed = waiting.spec.smallest_slots();
  if (waited.to_seconds() * needed < room.cost_s) return 0;
  int lacking = 0;
  IdSet<JobId> gangs;
  for (const WorkerId id : room.movers) {
    const Worker& worker = *draft.state().find_worker(id);
    const Job& job = *draft.state().find_job(worker.job);
    if (!job.spec.mixed_types && !gangs.insert(job.id)) continue;
    const bool can = can_change(draft, job) && contains(job.membership.members, id) && !draft.resizes(job.id);
    if (!can || cools_down(draft, job)) continue;
    const reason::MovedForType reason{{.worker = id}, waiting.id, waited, room.cost_s};
    if (!move(draft, worker, waiting, reason)) lacking += slots_moved(job);
  }
  return lacking;
}

Reason told_of_room(const DecisionDraft& draft, const TypeRoom& room, const Job& waiting,
                    reason::WaitingForSlots lacks) {
  const int movers = static_cast<int>(room.movers.size());
  const int looks = looks_for_room(waiting, draft.now());
  if (!asks_by_labels_or_memory(waiting.spec)) {
    lacks.type = reason::TypeWait{.movers = movers, .cost_s = room.cost_s, .holder = room.holder, .looks = looks};
    return lacks;
  }
  reason::WaitingForNodes told{.needed = lacks.needed,
                               .movers = movers,
                               .cost_s = room.cost_s,
                               .looks = looks,
                               .memory = memory_told(waiting.spec),
                               .word = text_of(waiting.spec.placement.selector)};
  tell_nodes(nodes_asked_for(draft.state(), waiting), told);
  return told;
}

std::optional<Instant> next_look_for_room(const Job& waiting, Instant after) {
  const bool is_bound = waiting.spec.gpus_per_worker > 1 || waiting.spec.scaling.price_cap;
  const bool claims = is_bound && waiting.planned && waiting.planned->target.size > 0;
  if (waiting.state() != JobState::kPending || !(is_choosy(waiting.spec) || claims)) return std::nullopt;
  const int looks = looks_for_room(waiting, after);
  if (looks == kLooksMax) return std::nullopt;
  return waiting_since(waiting) + Duration::seconds(std::int64_t{1} << looks);
}

}  // namespace tidepool::core
