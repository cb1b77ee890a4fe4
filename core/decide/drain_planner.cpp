#include "core/decide/drain_planner.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/first_after.hpp"
#include "base/id_set.hpp"
#include "core/decide/size_planner.hpp"
#include "core/decide/transition_planner.hpp"
#include "core/place/node_wait.hpp"
#include "core/place/together.hpp"
#include "core/state/job_state.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/membership.hpp"
#include "core/state/worker_groups.hpp"

namespace tidepool::core {
namespace {

// Of the node that the worker is on; null: it is not being drained, or out of sight.
const NodeDrain* drain_of(const ClusterState& state, const Worker& worker) {
  const Node& node = *state.find_node(worker.node);
  return worker.is_gone() || !node.drain ? nullptr : &*node.drain;
}

// Members on nodes that are being drained, and the node with the earliest deadline.
struct Leaving {
  std::vector<WorkerId> workers;  // by deadline, then by rank; then others of their groups
  NodeId node;
  Instant deadline;
  Instant last_call;  // when the job has to begin saving its state
};

reason::OfDrain told_of(const Node& node, Instant now) {
  return {.node = node.id,
          .left = std::max(Duration(), node.drain->deadline - now),
          .reclaimed = node.drain->reclaim.has_value(),
          .window = window_shown(node)};
}

// Of a notice that is shorter than twice the grace, half is left for workers to be replaced.
Instant last_call(const Job& job, const NodeDrain& drain) {
  const Duration half = Duration::micros((drain.deadline - drain.since).count_us() / 2);
  return drain.deadline - std::min(job.spec.elastic.grace, half);
}

std::optional<Leaving> leaving_of(const ClusterState& state, const Job& job) {
  std::vector<std::tuple<Instant, std::size_t, WorkerId>> found;
  for (const WorkerId id : job.membership.members) {
    const Worker* worker = state.find_worker(id);
    const NodeDrain* drain = worker == nullptr ? nullptr : drain_of(state, *worker);
    if (drain != nullptr) found.emplace_back(drain->deadline, found.size(), id);
  }
  if (found.empty()) return std::nullopt;
  std::sort(found.begin(), found.end());
  const auto& [deadline, rank, first] = found.front();
  const NodeId node = state.find_worker(first)->node;
  const Instant call = last_call(job, *state.find_node(node)->drain);
  Leaving leaving{.workers = {}, .node = node, .deadline = deadline, .last_call = call};
  for (const auto& [when, at, id] : found) leaving.workers.push_back(id);
  const IdSet<WorkerId> named(leaving.workers.begin(), leaving.workers.end());
  for (const WorkerId id : with_groups(job, leaving.workers)) {
    if (!named.contains(id)) leaving.workers.push_back(id);
  }
  return leaving;
}

reason::OfDrain told_of(const DecisionDraft& draft, const Leaving& leaving) {
  return told_of(*draft.state().find_node(leaving.node), draft.now());
}

// The largest allowed size that the job has without these.
std::optional<int> size_without(const Job& job, const Leaving& leaving) {
  const int most = job.size() - static_cast<int>(leaving.workers.size());
  const int size = most > 0 ? allowed_size(job, most) : 0;
  return size > 0 && size <= most ? std::optional(size) : std::nullopt;
}

GangRequest request_for(DecisionDraft& draft, const Job& job, const std::vector<WorkerId>& leaving = {}) {
  GangRequest request = gang_beside_members(draft.state(), job, std::max(1, static_cast<int>(leaving.size())), leaving);
  request.slot_types = draft.types_for_more(job);
  return request;
}

// A job with a cap on its price moves to no dearer slot; none: to any.
std::optional<Money> dearest_for(DecisionDraft& draft, const Job& job, const Leaving& leaving) {
  if (!job.spec.scaling.price_cap) return std::nullopt;
  return draft.state().find_node(leaving.node)->price_per_slot_hour;
}

// A live job of a single worker has no other member to hand its state on: it has two for a while, if it may.
bool grow_by_one(DecisionDraft& draft, const Job& job, const Leaving& leaving) {
  const auto& sizes = job.spec.elastic.sizes;
  if (!std::binary_search(sizes.begin(), sizes.end(), 2) || job.spec.batch.global < 2) return false;
  auto gang = draft.place_within_cap(job, request_for(draft, job));
  if (!gang && !job.spec.scaling.price_cap) {  // the old worker leaves, so the new one may be on another type
    GangRequest request = request_for(draft, job);
    request.slot_types = job.spec.slot_types;
    gang = draft.free_slots().take(std::move(request), draft.next_worker());
  }
  if (!gang) return false;
  draft.conclude(job, GrowIntent{job.id, std::move(*gang)}, reason::DrainGrow{{1, 2}, told_of(draft, leaving)});
  return true;
}

// These workers of the job go to other slots at once. False if there is no room for all of them.
bool move(DecisionDraft& draft, const Job& job, const Leaving& leaving, std::vector<WorkerId> workers) {
  GangRequest request = request_for(draft, job, workers);
  request.price_max = dearest_for(draft, job, leaving);
  auto places = draft.free_slots().take(std::move(request), draft.next_worker());
  if (!places) return false;
  const reason::DrainMove reason{told_of(draft, leaving), leaving.workers.front(), places->front().node};
  draft.conclude(job, MoveIntent{job.id, *std::move(places), std::move(workers), ReplaceCause::kDrain}, reason);
  return true;
}

// Boots the successor of the worker that has to leave first, or of its group. False if there is no room for it.
bool replace(DecisionDraft& draft, const Job& job, const Leaving& leaving) {
  const Worker& worker = *draft.state().find_worker(leaving.workers.front());
  if (has_groups(job.spec)) return move(draft, job, leaving, with_groups(job, {worker.id}));
  GangRequest request = request_for(draft, job, {worker.id});
  request.price_max = dearest_for(draft, job, leaving);
  auto place = draft.free_slots().take(request, draft.next_worker());
  if (!place && job.size() == 1) {  // none of its workers keeps it on the type that it is on
    request.slot_types = job.spec.slot_types;
    place = draft.free_slots().take(std::move(request), draft.next_worker());
  }
  if (!place) return false;
  const reason::DrainMove reason{told_of(draft, leaving), worker.id, place->front().node};
  draft.conclude(job, ReplaceIntent{job.id, std::move(place->front()), worker.id, ReplaceCause::kDrain}, reason);
  return true;
}

// All workers of a job that has to be in one domain leave it, where no other room is left for it there.
bool move_whole(DecisionDraft& draft, const Job& job, const Leaving& leaving) {
  const auto& members = job.membership.members;
  const bool may = is_in_one_domain(job.spec) && can_hand_on(job);
  if (!may || job.spec.scaling.price_cap || draft.usable_for(job) < job.size() * job.spec.gpus_per_worker) return false;
  return move(draft, job, leaving, members);
}

// Programs that restart with each change restart once, for all workers that leave.
bool move_together(DecisionDraft& draft, const Job& job, const Leaving& leaving) {
  return move(draft, job, leaving, members_among(job, leaving.workers));
}

void shrink(DecisionDraft& draft, const Job& job, const Leaving& leaving, int size) {
  IdSet<WorkerId> going(leaving.workers.begin(), leaving.workers.end());
  const auto& members = job.membership.members;
  for (std::size_t rank = members.size(); rank-- > 0 && job.size() - static_cast<int>(going.size()) > size;) {
    going.insert(members[rank]);
  }
  const reason::DrainShrink reason{{job.size(), size}, told_of(draft, leaving)};
  draft.shrink(job, ShrinkIntent{job.id, members_among(job, {going.begin(), going.end()})}, reason);
}

// Somewhere else the whole job could start with its saved state.
bool has_room_elsewhere(DecisionDraft& draft, const Job& job) {
  return draft.free_slots().room_for(job) >= job.spec.elastic.sizes.front();
}

// What its policy, or its user, wants is no more than it has without these: none needs a successor.
bool wants_no_more_than(DecisionDraft& draft, const Job& job, int size) {
  const int pinned = job.requests.pinned_size;
  const int wanted = pinned > 0 ? pinned : draft.with_target(job, [](const Target& target) { return target.size; });
  return wanted > 0 && wanted <= size;
}

void leave(DecisionDraft& draft, const Job& job, const Leaving& leaving) {
  const bool live = job.spec.resize == ResizeMode::kLive;
  const auto count = static_cast<double>(leaving.workers.size());
  const double left_ms = (leaving.last_call - draft.now()).to_seconds() * 1e3;
  const double boot_ms = cost_at(boot_cost_of(job.measurements), job.size());
  const auto smaller = size_without(job, leaving);
  if (smaller && wants_no_more_than(draft, job, *smaller)) return shrink(draft, job, leaving, *smaller);
  // Each replacement restarts all programs of such a job.
  const bool all_in_time = boot_ms * count < left_ms && (live || leaving.workers.size() == 1);
  const bool may_replace = boot_ms < left_ms && (all_in_time || !smaller);
  const bool alone = live && job.size() == 1;
  const bool at_once = !live && leaving.workers.size() > 1 && boot_ms < left_ms;
  if (at_once && move_together(draft, job, leaving)) return;
  if (may_replace && (alone ? grow_by_one(draft, job, leaving) : replace(draft, job, leaving))) return;
  if (may_replace && move_whole(draft, job, leaving)) return;
  if (smaller) return shrink(draft, job, leaving, *smaller);
  if (alone && has_room_elsewhere(draft, job)) {
    return preempt(draft, job, reason::DrainSuspend{told_of(draft, leaving)}, nullptr);
  }
  const int at_once_least = live && !alone ? job.spec.elastic.group : static_cast<int>(leaving.workers.size());
  const int wanted = job.spec.gpus_per_worker * at_once_least;
  draft.find(job, reason::DrainHold{told_of(draft, leaving), wanted});
}

}  // namespace

IdSet<NodeId> draining_nodes(const ClusterState& state) {
  IdSet<NodeId> nodes;
  for (const auto& [id, node] : state.nodes) {
    if (node.drain) nodes.insert(id);
  }
  return nodes;
}

IdSet<JobId> jobs_on(const ClusterState& state, const IdSet<NodeId>& nodes) {
  IdSet<JobId> jobs;
  for (const NodeId node : nodes) {
    for (const WorkerId owner : state.find_node(node)->owners) {
      if (owner) jobs.insert(state.find_worker(owner)->job);
    }
  }
  return jobs;
}

bool leaves_node(const DecisionDraft& draft, const Job& job) {
  return draft.is_on_drained(job.id) && leaving_of(draft.state(), job).has_value();
}

bool awaits_stopped(const DecisionDraft& draft, const Job& job) {
  if (!draft.is_on_drained(job.id)) return false;
  return std::any_of(job.membership.workers.begin(), job.membership.workers.end(), [&](WorkerId id) {
    const Worker& worker = *draft.state().find_worker(id);
    return worker.kill_at && drain_of(draft.state(), worker) != nullptr;
  });
}

std::optional<Reason> suspended_by_drain(const DecisionDraft& draft, const Job& job) {
  if (!draft.is_on_drained(job.id)) return std::nullopt;
  if (job.membership.members.empty()) {
    for (const WorkerId id : job.membership.workers) {
      const Worker& worker = *draft.state().find_worker(id);
      const NodeDrain* drain = boots(worker) ? drain_of(draft.state(), worker) : nullptr;
      if (drain == nullptr) continue;
      return reason::DrainSuspend{told_of(*draft.state().find_node(worker.node), draft.now())};
    }
    return std::nullopt;
  }
  const auto leaving = leaving_of(draft.state(), job);
  if (!leaving || draft.now() < leaving->last_call) return std::nullopt;
  const bool shrinks = is_settled(draft, job) && size_without(job, *leaving);
  if (shrinks && draft.now() < leaving->deadline) return std::nullopt;
  return reason::DrainSuspend{told_of(draft, *leaving)};
}

std::optional<Reason> stopped_by_drain(const DecisionDraft& draft, const Worker& worker) {
  if (drain_of(draft.state(), worker) == nullptr) return std::nullopt;
  return reason::DrainStop{told_of(*draft.state().find_node(worker.node), draft.now()), worker.id};
}

void stop_on_drained(DecisionDraft& draft, const Job& job) {
  if (!draft.is_on_drained(job.id)) return;
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *draft.state().find_worker(id);
    const NodeDrain* drain = worker.kill_at ? nullptr : drain_of(draft.state(), worker);
    if (drain != nullptr && draft.now() >= drain->deadline) {
      draft.stop({job.id, id, Duration()}, *stopped_by_drain(draft, worker));
    }
  }
}

void plan_drains(DecisionDraft& draft, const IdSet<JobId>& jobs) {
  for (const JobId id : jobs) {
    const Job& job = *draft.state().find_job(id);
    if (draft.resizes(id) || draft.ends(id) || !is_settled(draft, job)) continue;
    if (const auto leaving = leaving_of(draft.state(), job)) leave(draft, job, *leaving);
  }
}

std::optional<Instant> next_drain_due(const ClusterState& state, const IdSet<NodeId>& nodes,
                                      std::optional<Instant> after) {
  FirstAfter first(after);
  for (const NodeId id : nodes) {
    const Node& node = *state.find_node(id);
    for (const WorkerId owner : node.owners) {
      const Worker* worker = owner ? state.find_worker(owner) : nullptr;
      if (worker == nullptr || worker->is_gone() || worker->kill_at) continue;
      first.consider(last_call(*state.find_job(worker->job), *node.drain));
      first.consider(node.drain->deadline);
    }
  }
  return first.found();
}

}  // namespace tidepool::core
