#include "core/decide/size_planner.hpp"

#include <algorithm>

#include "core/decide/queue_planner.hpp"
#include "core/decide/restart_planner.hpp"
#include "core/decide/straggler_planner.hpp"
#include "core/decide/transition_planner.hpp"
#include "core/decide/type_moves.hpp"
#include "core/state/membership.hpp"
#include "core/state/straggler_patience.hpp"
#include "core/words/retelling.hpp"

namespace tidepool::core {
namespace {

std::optional<Duration> left_of(std::optional<Instant> since, Duration length, Instant now) {
  if (!since || now >= *since + length) return std::nullopt;
  return *since + length - now;
}

std::optional<Reason> cooling_down(const DecisionDraft& draft, const Job& job) {
  if (job.cooldown_waived) return std::nullopt;
  const auto left = left_of(job.last_resize_at, job.spec.elastic.cooldown, draft.now());
  if (!left) return std::nullopt;
  return reason::Cooldown{{.left = *left}};
}

// A node the job is on already is preferred when it wants to be packed.
GangRequest request_for(const DecisionDraft& draft, const Job& job, int workers) {
  GangRequest request{workers, job.spec.gpus_per_worker, job.spec.pack_node, {}, {}};
  for (const WorkerId id : job.members) {
    if (const Worker* worker = draft.state().find_worker(id)) request.prefer.insert(worker->node);
  }
  return request;
}

struct Wish {
  int size = 0;                   // allowed; 0 = should hold nothing
  const Wished* asked = nullptr;  // null = its user has pinned that size
};

Wish wish_of(const Job& job, const Wished& asked) {
  if (job.pinned_size > 0) return {.size = job.pinned_size};
  if (asked.size == 0) return {.size = 0, .asked = &asked};
  // A failure may have left a size between the allowed ones; it is kept unless the wish points elsewhere.
  const int size = job.size();
  int allowed = asked.size == size ? size : allowed_size(job, asked.size);
  if (asked.size > size) allowed = std::max(allowed, size);
  return {.size = allowed, .asked = &asked};
}

Weighed weighed(const Wish& wish) {
  return wish.asked == nullptr ? Weighed{} : weighed(*wish.asked);
}

Reason reason_to_change(const Job& job, const Wish& wish, int to) {
  if (wish.asked != nullptr) return reason_of_change(wish.asked->reason, job.size(), to);
  return reason::ResizedByUser{{.from = job.size(), .to = to}};
}

Reason reason_to_keep(const Job& job, const Wish& wish) {
  if (wish.asked == nullptr) return reason::PinnedByUser{{.size = wish.size}};
  const int size = job.size();
  // A wish that the job's sizes cut back to where it stands is no reason to move.
  const bool cut_back = wish.asked->size > 0 && wish.size == size && wish.asked->size != size;
  if (!cut_back) return wish.asked->reason;
  if (wish.asked->size > size) return reason::AtMax{{.size = size}};
  return reason::AtMin{{.size = size}};
}

// The largest allowed size up to `limit`, if it is larger than the present one.
std::optional<int> larger_size(const Job& job, std::int64_t limit) {
  const int size = allowed_size(job, static_cast<int>(std::min<std::int64_t>(limit, job.spec.elastic.max)));
  return size > job.size() && size <= limit ? std::optional(size) : std::nullopt;
}

// A job that gave up a slow worker does not take the next slot at once: it may be the slow one's.
std::optional<Reason> after_straggler(const DecisionDraft& draft, const Job& job) {
  const auto next = job.shrunk_for_straggler && job.pinned_size == 0 ? next_replacement(job) : std::nullopt;
  if (!next || draft.now() >= *next) return std::nullopt;
  return reason::Cooldown{{.left = *next - draft.now()}};
}

// What slots are free are kept for a job that waits.
bool all_reserved(DecisionDraft& draft, const Job& job) {
  return draft.reserved() > 0 && draft.usable() < job.spec.gpus_per_worker;
}

struct Growth {
  std::optional<int> to;         // the largest size towards the wish that is allowed now, whatever slots are free
  std::optional<Reason> barred;  // why there is none
};

Growth growth_of(DecisionDraft& draft, const Job& job, int wish) {
  if (auto reason = cooling_down(draft, job)) return {{}, std::move(reason)};
  if (auto reason = after_straggler(draft, job)) return {{}, std::move(reason)};
  std::optional<int> to = larger_size(job, std::min<std::int64_t>(wish, job.spec.batch.global));
  if (!to) {
    return {{}, reason::BatchTooSmall{.size = wish, .global = job.spec.batch.global}};
  }
  std::optional<Reason> too_dear = draft.above_cap(job, *to - job.size());
  while (to && draft.above_cap(job, *to - job.size())) to = larger_size(job, *to - 1);
  return {to, to ? std::nullopt : std::move(too_dear)};
}

Finding no_slots_to_grow(const reason::NoSlotsToGrow& why) {
  return {.reason = why, .blocked = {BlockedOn::kMoreSlots}};
}

// Grows as far as an allowed size goes through; otherwise says why not. What does not depend on free
// slots is checked first, so that the answer does not change while slots are only taken.
std::optional<Finding> grow(DecisionDraft& draft, const Job& job, const Wish& wish) {
  Growth growth = growth_of(draft, job, wish.size);
  if (growth.barred) return Finding{*std::move(growth.barred)};
  std::optional<int> to = growth.to;
  const int wanted = (*to - job.size()) * job.spec.gpus_per_worker;
  if (draft.queue_waits()) return no_slots_to_grow({.wanted = wanted, .queue = true});
  const auto free = static_cast<int>(draft.free_slots().free());
  for (; to; to = larger_size(job, *to - 1)) {
    if ((*to - job.size()) * job.spec.gpus_per_worker > draft.usable()) continue;
    auto gang = draft.place_within_cap(job, request_for(draft, job, *to - job.size()));
    if (!gang) continue;
    const Reason reason = reason_to_change(job, wish, *to);  // as far as slots and price allow
    draft.conclude(job, GrowIntent{job.id, std::move(*gang)}, reason, weighed(wish));
    return std::nullopt;
  }
  return no_slots_to_grow({.wanted = wanted, .free = free});
}

std::optional<Finding> shrink(DecisionDraft& draft, const Job& job, const Wish& wish) {
  if (auto reason = cooling_down(draft, job)) return Finding{*std::move(reason)};
  const bool by_policy = job.pinned_size == 0;
  const auto left = left_of(job.last_start_at, job.spec.elastic.min_runtime, draft.now());
  if (by_policy && left) return Finding{reason::MinRuntime{{.left = *left}}};
  std::vector<WorkerId> leavers = leavers_of(draft, job, job.size() - wish.size);
  std::vector<WorkerId> members = job.members;
  std::erase_if(members, [&](WorkerId id) { return contains(leavers, id); });
  const Reason reason = reason_to_change(job, wish, wish.size);
  draft.conclude(job, ShrinkIntent{job.id, std::move(leavers)}, reason, weighed(wish));
  // Nobody has to boot: the switch follows at once.
  draft.carry_out(SwitchIntent{job.id, job.generation + 1, std::move(members), false}, reason);
  return std::nullopt;
}

// The policy wants the job to hold nothing now: with notice, and not within its minimum run time.
std::optional<Finding> give_up_all(DecisionDraft& draft, const Job& job, const Wish& wish) {
  if (auto reason = preemption_barred(draft, job)) return Finding{*std::move(reason)};
  preempt(draft, job, reason_of_preemption(wish.asked->reason), weighed(wish));
  return std::nullopt;
}

}  // namespace

bool can_change(const DecisionDraft& draft, const Job& job) {
  const bool settled = job.state == JobState::kRunning && job.switched && !job.transition;
  if (!settled || is_ending(job, draft.now()) || job.suspend_requested) return false;
  if (job.incarnation.failed || is_finishing(draft.state(), job)) return false;
  return all_members_stay(draft.state(), job);
}

std::optional<Reason> growth_barred(DecisionDraft& draft, const Job& job, int size) {
  return growth_of(draft, job, size).barred;
}

std::optional<Reason> preemption_barred(const DecisionDraft& draft, const Job& job) {
  if (!job.spec.preemptible) return reason::AtMin{{.size = job.size()}};
  const auto left = left_of(job.last_start_at, job.spec.elastic.min_runtime, draft.now());
  if (!left) return std::nullopt;
  return reason::MinRuntime{{.left = *left}};
}

void preempt(DecisionDraft& draft, const Job& job, const Reason& reason, Weighed weighed) {
  draft.conclude(job, PreemptIntent{job.id, job.generation + 1, false}, reason, std::move(weighed));
}

void plan_size(DecisionDraft& draft, const Job& job) {
  if (!can_change(draft, job) || draft.resizes(job.id)) return;
  const Allotment* allotment = draft.follows_plan(job) ? draft.allotment_of(job) : nullptr;
  if (allotment != nullptr) return plan_size(draft, job, wished(*allotment));
  SizeWish wish{job.id, job.pinned_size, {}, {}};
  if (job.pinned_size == 0) wish = draft.policy_of(job).size(draft.view(), job, draft.budget());
  plan_size(draft, job, wished(wish));
}

void plan_size(DecisionDraft& draft, const Job& job, const Wished& asked) {
  if (!can_change(draft, job) || draft.resizes(job.id)) return;
  const StragglerPlan straggler = plan_straggler(draft, job, !cooling_down(draft, job) && !all_reserved(draft, job));
  if (straggler.acted) return;
  const Wish wish = wish_of(job, asked);
  std::optional<Finding> held = Finding{reason_to_keep(job, wish)};
  if (wish.size == 0) {
    held = give_up_all(draft, job, wish);
  } else if (wish.size > job.size()) {
    held = straggler.needs_slot ? held : grow(draft, job, wish);
  } else if (wish.size < job.size()) {
    held = shrink(draft, job, wish);
  }
  if (!held) return;
  if (straggler.shares_ordered) return;
  if (straggler.rebalance) return draft.conclude(job, *straggler.rebalance, *straggler.reason);
  if (straggler.reason) held = {*straggler.reason, {.straggler = straggler.straggler}};
  if (!DecisionDraft::is_said(job, held->reason, held->blocked)) draft.find(job, *held, weighed(wish));
}

bool waits_for_capacity(const Job& job) {
  const Blocked& blocked = job.verdict.blocked;
  // Which sizes a cap on its price allows follows from the nodes.
  return job.state == JobState::kRunning &&
         (blocked.on == BlockedOn::kMoreSlots || blocked.straggler || job.spec.scaling.price_cap);
}

bool claims_free_slots(const Job& job) {
  if (job.state != JobState::kPending) return false;
  const BlockedOn on = job.verdict.blocked.on;
  return on == BlockedOn::kSlots || on == BlockedOn::kQueue || on == BlockedOn::kSavedState;
}

}  // namespace tidepool::core
