#include "core/decide/size_planner.hpp"

#include <algorithm>

#include "core/decide/claimants.hpp"
#include "core/decide/drain_planner.hpp"
#include "core/decide/gather.hpp"
#include "core/decide/leaving_workers.hpp"
#include "core/decide/restart_planner.hpp"
#include "core/decide/straggler_planner.hpp"
#include "core/decide/transition_planner.hpp"
#include "core/place/domain_wait.hpp"
#include "core/place/together.hpp"
#include "core/state/budget_hold.hpp"
#include "core/state/job_state.hpp"
#include "core/state/largest_batch.hpp"
#include "core/state/measured/straggler_patience.hpp"
#include "core/state/membership.hpp"
#include "core/words/adjusted_reason.hpp"

namespace tidepool::core {
namespace {

std::optional<Reason> within_min_runtime(const DecisionDraft& draft, const Job& job) {
  if (!job.last_start_at) return std::nullopt;
  const Duration left = *job.last_start_at + job.spec.elastic.min_runtime - draft.now();
  return left > Duration() ? std::optional<Reason>(reason::MinRuntime{{.left = left}}) : std::nullopt;
}

std::optional<Reason> cooling_down(const DecisionDraft& draft, const Job& job) {
  if (!cools_down(draft, job)) return std::nullopt;
  return reason::Cooldown{{.left = *job.last_resize_at + job.spec.elastic.cooldown - draft.now()}};
}

// The allowed size that its target, or its user, means; 0 = should hold nothing.
int goal_of(const Job& job, const Target& target) {
  if (job.requests.pinned_size > 0 || target.size == 0) return job.requests.pinned_size;
  // A failure may have left a size between the allowed ones; it is kept unless the target points elsewhere.
  const int size = job.size();
  const int allowed = target.size == size ? size : allowed_size(job, target.size);
  return target.size > size ? std::max(allowed, size) : allowed;
}

// The policy's weighing to record: none for a size that the user has pinned.
const Target* told_of(const Job& job, const Target& target) {
  return job.requests.pinned_size > 0 ? nullptr : &target;
}

Reason reason_to_change(const Job& job, const Target& target, int to) {
  if (job.requests.pinned_size == 0) return reason_of_change(target.reason, job.size(), to);
  return reason::ResizedByUser{{.from = job.size(), .to = to}};
}

Reason reason_to_keep(const Job& job, const Target& target) {
  if (job.requests.pinned_size > 0) return reason::PinnedByUser{{.size = job.requests.pinned_size}};
  const int size = job.size();
  // A target that the job's sizes cut back to where it stands is no reason to move.
  const bool cut_back = target.size > 0 && goal_of(job, target) == size && target.size != size;
  if (!cut_back) return target.reason;
  if (target.size > size) return reason::AtMax{{.size = size}};
  return reason::AtMin{{.size = size}};
}

// The largest allowed size up to `limit`, if it is larger than the present one.
std::optional<int> larger_size(const Job& job, std::int64_t limit) {
  const int size = allowed_size(job, static_cast<int>(std::min<std::int64_t>(limit, job.spec.elastic.max)));
  return size > job.size() && size <= limit ? std::optional(size) : std::nullopt;
}

// A job that gave up a slow worker does not take the next slot at once: it may be the slow one's.
std::optional<Reason> after_straggler(const DecisionDraft& draft, const Job& job) {
  const auto next =
      job.recovery.shrunk_for_straggler && job.requests.pinned_size == 0 ? next_replacement(job) : std::nullopt;
  if (!next || draft.now() >= *next) return std::nullopt;
  return reason::Cooldown{{.left = *next - draft.now()}};
}

// What slots are free are kept for a job that waits.
bool all_reserved(DecisionDraft& draft, const Job& job) {
  return draft.reserved() > 0 && draft.usable() < job.spec.gpus_per_worker;
}

struct Growth {
  std::optional<int> to;         // the largest size towards the goal that is allowed now, whatever slots are free
  std::optional<Reason> barred;  // why there is none
};

Growth growth_of(DecisionDraft& draft, const Job& job, int goal) {
  if (auto reason = cooling_down(draft, job)) return {{}, std::move(reason)};
  if (auto reason = after_straggler(draft, job)) return {{}, std::move(reason)};
  std::optional<int> to = larger_size(job, std::min<std::int64_t>(goal, largest_batch(job.spec.batch)));
  if (!to) {
    return {{}, reason::BatchTooSmall{.size = goal, .global = largest_batch(job.spec.batch)}};
  }
  std::optional<Reason> too_dear = draft.above_cap(job, *to - job.size());
  while (to && draft.above_cap(job, *to - job.size())) to = larger_size(job, *to - 1);
  return {to, to ? std::nullopt : std::move(too_dear)};
}

Finding no_slots_to_grow(const reason::NoSlotsToGrow& why) {
  return {.reason = why, .blocked = {BlockedOn::kMoreSlots}};
}

Finding no_room_together(const Job& job, int next) {
  return {.reason = reason::NoRoomTogether{{.size = job.size(), .next = next}}, .blocked = {BlockedOn::kMoreSlots}};
}

// The reason of a job that finds no room to grow.
Finding no_room_to_grow(DecisionDraft& draft, const Job& job, int next) {
  if (has_gang_rule(job.spec)) {
    return {.reason = no_room_by_rules(job, next), .blocked = {BlockedOn::kMoreSlots}};
  }
  if (job.spec.pack_node) return no_room_together(job, next);
  const auto free = static_cast<int>(draft.free_slots().free());
  return no_slots_to_grow({.wanted = (next - job.size()) * job.spec.gpus_per_worker,
                           .free = free,
                           .for_job = free > 0 ? claimant_still_owed(draft, job) : std::nullopt});
}

// Grows as far as an allowed size goes through; otherwise says why not. What does not depend on free
// slots is checked first, so that the answer does not change while slots are only taken.
std::optional<Finding> grow(DecisionDraft& draft, const Job& job, const Target& target) {
  Growth growth = growth_of(draft, job, goal_of(job, target));
  if (growth.barred) return Finding{*std::move(growth.barred)};
  std::optional<int> to = growth.to;
  const int wanted = (*to - job.size()) * job.spec.gpus_per_worker;
  if (draft.queue_waits()) return no_slots_to_grow({.wanted = wanted, .queue = true});
  for (auto size = to; size && is_as_good_together(*size, *to); size = larger_size(job, *size - 1)) {
    const Cause why{reason_to_change(job, target, *size), told_of(job, target)};
    if (grow_together(draft, job, *size, why)) return std::nullopt;
  }
  Finding held = no_room_to_grow(draft, job, *to);
  if (job.spec.pack_node && make_room_together(draft, job, *to)) return held;
  for (; to; to = larger_size(job, *to - 1)) {
    if ((*to - job.size()) * job.spec.gpus_per_worker > draft.usable_for(job)) continue;
    auto gang = draft.place_within_cap(job, gang_beside_members(draft.state(), job, *to - job.size()));
    if (!gang) continue;
    const Reason reason = reason_to_change(job, target, *to);  // as far as slots and price allow
    draft.conclude(job, GrowIntent{job.id, std::move(*gang)}, reason, told_of(job, target));
    return std::nullopt;
  }
  return held;
}

std::optional<Finding> shrink(DecisionDraft& draft, const Job& job, const Target& target) {
  const int goal = goal_of(job, target);
  if (auto reason = cooling_down(draft, job)) return Finding{*std::move(reason)};
  auto barred = job.requests.pinned_size == 0 ? within_min_runtime(draft, job) : std::nullopt;
  if (barred) return Finding{*std::move(barred)};
  const ShrinkIntent intent{job.id, leaving_workers_of(draft, job, job.size() - goal)};
  draft.shrink(job, intent, reason_to_change(job, target, goal), told_of(job, target));
  return std::nullopt;
}

// The policy wants the job to hold nothing now: with notice, and not within its minimum run time or cooldown.
std::optional<Finding> give_up_all(DecisionDraft& draft, const Job& job, const Target& target) {
  if (auto reason = preemption_barred(draft, job)) return Finding{*std::move(reason)};
  preempt(draft, job, reason_of_preemption(target.reason), &target);
  return std::nullopt;
}

// What is done about a slow worker of the job; nothing if all is done for it. Requires: it can change.
// `is_claimed`: it must release slots as soon as possible, so it starts no cooldown before.
std::optional<StragglerPlan> look_for_straggler(DecisionDraft& draft, const Job& job, bool is_claimed) {
  const bool may_change = !is_claimed && !cooling_down(draft, job) && !all_reserved(draft, job);
  StragglerPlan plan = plan_straggler(draft, job, may_change);
  return plan.acted ? std::nullopt : std::optional(std::move(plan));
}

// It keeps its members: its shares may change, and the reason for its size is recorded.
void tell_kept(DecisionDraft& draft, const Job& job, const StragglerPlan& straggler, Finding held,
               const Target* target) {
  if (straggler.weights_ordered) return;
  if (straggler.rebalance) return draft.conclude(job, *straggler.rebalance, *straggler.reason);
  if (straggler.reason) held = {*straggler.reason, {.straggler = straggler.straggler}};
  draft.find(job, held, target);
}

// This decision takes one of its members away.
bool loses_member(const DecisionDraft& draft, const Job& job) {
  const IdSet<WorkerId>& leaving = draft.leaving_workers();
  const auto& members = job.membership.members;
  return !leaving.empty() &&
         std::any_of(members.begin(), members.end(), [&](WorkerId id) { return leaving.contains(id); });
}

// It is to go on with all its members, none of which leaves.
bool keeps_members(const DecisionDraft& draft, const Job& job) {
  if (is_ending(job, draft.now()) || job.requests.suspend || is_withheld(job)) return false;
  return !job.membership.restart_state.failed && all_members_stay(draft.state(), job) && !loses_member(draft, job);
}

// It steps with all its members, and is to go on doing so.
bool steps_on(const DecisionDraft& draft, const Job& job) {
  return runs_unchanged(job) && keeps_members(draft, job);
}

}  // namespace

bool cools_down(const DecisionDraft& draft, const Job& job) {
  return !job.recovery.cooldown_waived && job.last_resize_at &&
         draft.now() < *job.last_resize_at + job.spec.elastic.cooldown;
}

bool is_settled(const DecisionDraft& draft, const Job& job) {
  return steps_on(draft, job) && !is_finishing(draft.state(), job) && !awaits_stopped(draft, job);
}

bool can_change(const DecisionDraft& draft, const Job& job) {
  return is_settled(draft, job) && !leaves_node(draft, job);
}

bool can_give_up(const DecisionDraft& draft, const Job& job) {
  if (can_change(draft, job)) return true;
  if (draft.alters(job.id)) return false;
  if (may_leave_before_launch(job, draft.now()) && keeps_members(draft, job)) return true;
  if (!steps_on(draft, job)) return false;
  return leaves_node(draft, job) || (job.spec.resize == ResizeMode::kRestart && is_finishing(draft.state(), job));
}

std::optional<Reason> growth_barred(DecisionDraft& draft, const Job& job, int size) {
  return growth_of(draft, job, size).barred;
}

std::optional<Reason> preemption_barred(const DecisionDraft& draft, const Job& job) {
  if (!job.spec.preemptible) return reason::AtMin{{.size = job.size()}};
  if (auto reason = within_min_runtime(draft, job)) return reason;
  return cooling_down(draft, job);
}

void preempt(DecisionDraft& draft, const Job& job, const Reason& reason, const Target* target) {
  draft.conclude(job, PreemptIntent{job.id, job.membership.generation + 1, false}, reason, target);
}

void preempt_for(DecisionDraft& draft, const Job& job, JobId claimant, bool restarts) {
  const PreemptIntent intent{.job = job.id,
                             .number = job.membership.generation + 1,
                             .after_failure = awaits_relaunch(job),
                             .for_job = claimant};
  draft.conclude(job, intent, reason::Preempted{.for_job = claimant, .restarts = restarts}, draft.planned_target(job));
}

void plan_size(DecisionDraft& draft, const Job& job) {
  if (!can_change(draft, job) || draft.resizes(job.id)) return;
  draft.with_target(job, [&](const Target& target) { plan_size(draft, job, target); });
}

void plan_size(DecisionDraft& draft, const Job& job, const Target& target) {
  if (!can_change(draft, job) || draft.resizes(job.id)) return;
  const int goal = goal_of(job, target);
  std::optional<Finding> held = Finding{reason_to_keep(job, target)};
  if (goal < job.size()) held = goal == 0 ? give_up_all(draft, job, target) : shrink(draft, job, target);
  if (!held) return;
  const auto straggler = look_for_straggler(draft, job, goal < job.size());
  if (!straggler) return;
  if (goal > job.size() && !straggler->needs_slot) held = grow(draft, job, target);
  const bool stays = held && goal != 0 && !straggler->reason && !straggler->rebalance;
  if (stays && gather(draft, job)) return;
  if (held) tell_kept(draft, job, *straggler, *std::move(held), told_of(job, target));
}

void keep_size(DecisionDraft& draft, const Job& job, const Target& target, const Reason& why) {
  if (!can_change(draft, job) || draft.resizes(job.id)) return;
  const auto straggler = look_for_straggler(draft, job, false);
  if (!straggler) return;
  const bool is_news = straggler->rebalance || straggler->reason || !DecisionDraft::is_said(job, why);
  if (!is_news) return;
  Target kept = target;
  kept.size = job.size();
  kept.reason = why;
  tell_kept(draft, job, *straggler, Finding{why}, &kept);
}

bool waits_for_capacity(const Job& job) {
  const Blocked& blocked = job.verdict.blocked;
  // Which sizes a cap on its price allows follows from the nodes.
  return job.state() == JobState::kRunning &&
         (blocked.on == BlockedOn::kMoreSlots || blocked.straggler || job.spec.scaling.price_cap);
}

bool claims_free_slots(const Job& job) {
  if (job.state() != JobState::kPending) return false;
  const BlockedOn on = job.verdict.blocked.on;
  return on == BlockedOn::kSlots || on == BlockedOn::kQueue || on == BlockedOn::kSavedState;
}

}  // namespace tidepool::core
