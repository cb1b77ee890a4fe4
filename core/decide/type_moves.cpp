#include "core/decide/type_moves.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/id_set.hpp"
#include "core/decide/open_slots.hpp"
#include "core/decide/room_search.hpp"
#include "core/decide/size_planner.hpp"
#include "core/place/node_wait.hpp"
#include "core/place/placement.hpp"
#include "core/place/together.hpp"
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

Reason reason_with_room(const DecisionDraft& draft, const TypeRoom& room, const Job& waiting,
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
