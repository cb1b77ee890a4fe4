#include "core/decide/type_moves.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/id_set.hpp"
#include "core/decide/size_planner.hpp"
#include "core/decide/straggler_planner.hpp"
#include "core/place/placement.hpp"
#include "core/state/job_state.hpp"
#include "core/state/membership.hpp"

namespace tidepool::core {
namespace {

constexpr double kRestartUnknownMs = 30'000;  // of a job whose programs are started anew
constexpr int kLooksMax = 32;

// Slot-seconds that moving one of its workers takes from the job.
double cost_of_moving(const Job& job) {
  if (job.spec.resize == ResizeMode::kLive) return cost_of_replacing(job);
  const double pause_ms =
      job.measurements.restart_cost.count > 0 ? job.measurements.restart_cost.mean_stall_ms : kRestartUnknownMs;
  return job.spec.gpus_per_worker * job.size() * pause_ms * 1e-3;
}

Instant waiting_since(const Job& job) {
  Instant since = job.submitted_at;
  if (job.last_start_at) since = std::max(since, *job.last_start_at);
  if (job.progress.reported_at) since = std::max(since, *job.progress.reported_at);
  return job.recovery.suspended ? std::max(since, job.recovery.suspended->at) : since;
}

bool may_hold(const Node& node, const Job& job) {
  return node.state == NodeState::kUp && !node.cordoned && is_of_type(node, job.spec.slot_types) &&
         node.owners.size() >= static_cast<std::size_t>(job.spec.gpus_per_worker);
}

// Its workers could be on slots that the waiting job does not ask for.
bool fits_elsewhere(const ClusterState& state, const Job& job, const Job& waiting) {
  return std::any_of(state.nodes.begin(), state.nodes.end(), [&](const auto& entry) {
    return may_hold(entry.second, job) && !is_of_type(entry.second, waiting.spec.slot_types);
  });
}

bool cools_down(const DecisionDraft& draft, const Job& job) {
  return !job.recovery.cooldown_waived && job.last_resize_at &&
         draft.now() < *job.last_resize_at + job.spec.elastic.cooldown;
}

struct Mover {
  double cost_s = 0;
  WorkerId worker;
  int slots = 0;
};

// A node whose slots are of the types that are asked for.
struct NodeRoom {
  int open = 0;               // slots that are free, or will be
  std::vector<Mover> movers;  // cheapest first
  std::size_t moved = 0;      // so many of them are taken to have left
};

class RoomSearch {
 public:
  RoomSearch(DecisionDraft& draft, const Job& waiting, const IdSet<WorkerId>& leaving)
      : draft_(draft), waiting_(waiting), leaving_(leaving), each_(waiting.spec.gpus_per_worker) {
    for (const auto& [id, node] : draft.state().nodes) {
      if (may_hold(node, waiting) && !draft.free_slots().is_closed(id)) look_at(node);
    }
  }

  TypeRoom find() {
    TypeRoom room;
    int workers = 0;
    for (const auto& [id, place] : places_) workers += place.open / each_;
    const int needed = waiting_.spec.elastic.sizes.front();
    room.coming = workers >= needed;
    int most = 0;
    for (const auto& [job, slots] : held_by_) {
      if (slots > most) std::tie(most, room.holder) = std::pair(slots, job);
    }
    for (; workers < needed; ++workers) {
      if (!move_cheapest(room)) return {.movers = {}, .holder = room.holder};
    }
    return room;
  }

 private:
  void look_at(const Node& node) {
    NodeRoom place{.open = static_cast<int>(draft_.free_slots().free_on(node.id)), .movers = {}};
    const IdSet<WorkerId> owners(node.owners.begin(), node.owners.end());
    for (const WorkerId id : owners) {
      if (!id) continue;
      const Worker& worker = *draft_.state().find_worker(id);
      const int slots = static_cast<int>(worker.slots.size());
      held_by_[worker.job] += slots;
      if (leaves(worker)) {
        place.open += slots;
      } else if (may_move(worker)) {
        place.movers.push_back({cost_of_moving(*draft_.state().find_job(worker.job)), id, slots});
      }
    }
    std::sort(place.movers.begin(), place.movers.end(), [](const Mover& one, const Mover& other) {
      return std::pair(one.cost_s, one.worker) < std::pair(other.cost_s, other.worker);
    });
    places_.emplace_back(node.id, std::move(place));
  }

  [[nodiscard]] bool leaves(const Worker& worker) const {
    const Job& job = *draft_.state().find_job(worker.job);
    if (worker.node_lost) return false;
    return worker.phase == WorkerPhase::kLeaving || worker.kill_at || leaving_.contains(worker.id) ||
           (job.phase.transition() && contains(job.phase.transition()->leaving_workers, worker.id));
  }

  // Sooner or later: what keeps its job from a change now passes. One that was started a moment ago is left alone, so
  // that a decision says the same before and after it was accepted.
  [[nodiscard]] bool may_move(const Worker& worker) {
    const Job& job = *draft_.state().find_job(worker.job);
    const bool is_new = worker.started_at >= draft_.now();
    if (!is_active(job.state()) || draft_.ends(job.id) || worker.node_lost || is_new) return false;
    const auto [fits, is_first] = elsewhere_.try_emplace(job.id, false);
    if (is_first) fits->second = fits_elsewhere(draft_.state(), job, waiting_);
    return fits->second;
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
  std::map<JobId, int> held_by_;
  std::map<JobId, bool> elsewhere_;  // whether the job fits elsewhere
};

// Boots the successor of one worker elsewhere. False if there is no room for it.
bool move(DecisionDraft& draft, const Job& job, const Worker& worker, const Job& waiting, const Reason& reason) {
  const int slots = job.spec.gpus_per_worker;
  if (draft.usable() < slots) return false;
  GangRequest request{.workers = 1, .slots_per_worker = slots, .pack = job.spec.pack_node, .avoid = worker.node};
  for (const WorkerId id : job.membership.members) request.prefer.insert(draft.state().find_worker(id)->node);
  request.avoid_always = true;
  request.slot_types = job.spec.slot_types;
  request.other_than = waiting.spec.slot_types;
  // A job with a cap on its price moves to no dearer slot.
  if (job.spec.scaling.price_cap) request.price_max = draft.state().find_node(worker.node)->price_per_slot_hour;
  auto place = draft.free_slots().take(std::move(request), draft.next_worker());
  if (!place) return false;
  draft.conclude(job, ReplaceIntent{job.id, std::move(place->front()), worker.id, ReplaceCause::kSlotType}, reason);
  return true;
}

// How often its waiting has doubled, from a second on.
int looks_for_type(const Job& waiting, Instant now) {
  const Duration waited = now - waiting_since(waiting);
  int looks = 0;
  for (Duration next = Duration::seconds(1); looks < kLooksMax && next <= waited; next = next * 2) ++looks;
  return looks;
}

}  // namespace

TypeRoom room_of_type(DecisionDraft& draft, const Job& waiting, const IdSet<WorkerId>& leaving) {
  return RoomSearch(draft, waiting, leaving).find();
}

int move_away(DecisionDraft& draft, const Job& waiting, const TypeRoom& room) {
  const Duration waited = draft.now() - waiting_since(waiting);
  const int needed = waiting.spec.elastic.sizes.front() * waiting.spec.gpus_per_worker;
  if (waited.to_seconds() * needed < room.cost_s) return 0;
  int lacking = 0;
  for (const WorkerId id : room.movers) {
    const Worker& worker = *draft.state().find_worker(id);
    const Job& job = *draft.state().find_job(worker.job);
    const bool can = can_change(draft, job) && contains(job.membership.members, id) && !draft.resizes(job.id);
    if (!can || cools_down(draft, job)) continue;
    const reason::MovedForType reason{{.worker = id}, waiting.id, waited, room.cost_s};
    if (!move(draft, job, worker, waiting, reason)) lacking += job.spec.gpus_per_worker;
  }
  return lacking;
}

reason::TypeWait told_of_room(const TypeRoom& room, const Job& waiting, Instant now) {
  return {.movers = static_cast<int>(room.movers.size()),
          .cost_s = room.cost_s,
          .holder = room.holder,
          .looks = looks_for_type(waiting, now)};
}

std::optional<Instant> next_look_for_type(const Job& waiting, Instant after) {
  if (waiting.state() != JobState::kPending || waiting.spec.slot_types.empty()) return std::nullopt;
  const int looks = looks_for_type(waiting, after);
  if (looks == kLooksMax) return std::nullopt;
  return waiting_since(waiting) + Duration::seconds(std::int64_t{1} << looks);
}

std::vector<WorkerId> leavers_of(DecisionDraft& draft, const Job& job, int count) {
  IdSet<WorkerId> chosen;
  const auto take = [&](const auto& wanted) {
    for (std::size_t rank = job.membership.members.size(); rank-- > 0 && static_cast<int>(chosen.size()) < count;) {
      const bool first = rank == 0 && count < job.size();
      if (!first && wanted(job.membership.members[rank])) chosen.insert(job.membership.members[rank]);
    }
  };
  const std::set<std::string>& asked = draft.types_asked_for();
  if (!asked.empty() && job.spec.slot_types.empty()) {
    take([&](WorkerId id) {
      return asked.contains(draft.state().find_node(draft.state().find_worker(id)->node)->slot_type);
    });
  }
  take([](WorkerId) { return true; });
  std::vector<WorkerId> leaving_workers;
  std::copy_if(job.membership.members.begin(), job.membership.members.end(), std::back_inserter(leaving_workers),
               [&](WorkerId id) { return chosen.contains(id); });
  return leaving_workers;
}

}  // namespace tidepool::core
