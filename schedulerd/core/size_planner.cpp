#include "schedulerd/core/size_planner.hpp"

#include <algorithm>

#include "schedulerd/core/membership.hpp"
#include "schedulerd/core/queue_planner.hpp"
#include "schedulerd/core/restart_planner.hpp"
#include "schedulerd/core/straggler_patience.hpp"
#include "schedulerd/core/straggler_planner.hpp"
#include "schedulerd/core/transition_planner.hpp"
#include "schedulerd/core/type_moves.hpp"

namespace tidepool::core {
namespace {

double figure(int value) {
  return static_cast<double>(value);
}

std::optional<Duration> left_of(std::optional<Instant> since, Duration length, Instant now) {
  if (!since || now >= *since + length) return std::nullopt;
  return *since + length - now;
}

std::optional<Reason> cooling_down(const DecisionDraft& draft, const Job& job) {
  if (job.cooldown_waived) return std::nullopt;
  const auto left = left_of(job.last_resize_at, job.spec.elastic.cooldown, draft.now());
  if (!left) return std::nullopt;
  return Reason{ReasonCode::kCooldown, {{"seconds_left", left->to_seconds()}}};
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
  int size = 0;  // allowed; 0 = should hold nothing
  Reason grow_or_shrink;
  Reason keep;
  Weighed weighed;
};

Wish wish_of(const Job& job, SizeWish wish) {
  const int size = job.size();
  Weighed asked = weighed(wish);
  if (job.pinned_size > 0) {
    const int pinned = job.pinned_size;
    return {pinned,
            {ReasonCode::kResizedByUser, {{"from", figure(size)}, {"to", figure(pinned)}}},
            {ReasonCode::kPinnedByUser, {{"size", figure(pinned)}}},
            {}};
  }
  if (wish.size == 0) return {0, wish.reason, std::move(wish.reason), std::move(asked)};
  // A failure may have left a size between the allowed ones; it is kept unless the wish points elsewhere.
  int allowed = wish.size == size ? size : allowed_size(job, wish.size);
  if (wish.size > size) allowed = std::max(allowed, size);
  Reason keep = wish.reason;
  // A wish that the job's sizes cut back to where it stands is no reason to move.
  if (allowed == size && wish.size > size) keep = {ReasonCode::kAtMax, {{"size", figure(size)}}};
  if (allowed == size && wish.size < size) keep = {ReasonCode::kAtMin, {{"size", figure(size)}}};
  Reason change = std::move(wish.reason);
  if (explains_holding(change.code)) {
    change = {ReasonCode::kBackToSize, {{"from", figure(size)}, {"to", figure(allowed)}}};
  }
  return {allowed, std::move(change), std::move(keep), std::move(asked)};
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
  return Reason{ReasonCode::kCooldown, {{"seconds_left", (*next - draft.now()).to_seconds()}}};
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
    const auto global = static_cast<double>(job.spec.batch.global);
    return {{}, Reason{ReasonCode::kBatchTooSmall, {{"size", figure(wish)}, {"global", global}}}};
  }
  std::optional<Reason> too_dear = draft.above_cap(job, *to - job.size());
  while (to && draft.above_cap(job, *to - job.size())) to = larger_size(job, *to - 1);
  return {to, to ? std::nullopt : std::move(too_dear)};
}

// Grows as far as an allowed size goes through; otherwise says why not. What does not depend on free
// slots is checked first, so that the answer does not change while slots are only taken.
std::optional<Reason> grow(DecisionDraft& draft, const Job& job, const Wish& wish) {
  Growth growth = growth_of(draft, job, wish.size);
  if (growth.barred) return std::move(growth.barred);
  std::optional<int> to = growth.to;
  const int wanted = (*to - job.size()) * job.spec.gpus_per_worker;
  if (draft.queue_waits()) {
    return Reason{ReasonCode::kNoSlotsToGrow, {{"wanted", figure(wanted)}, {"free", 0}, {"queue", 1}}};
  }
  const auto free = figure(draft.free_slots().free());
  for (; to; to = larger_size(job, *to - 1)) {
    if ((*to - job.size()) * job.spec.gpus_per_worker > draft.usable()) continue;
    auto gang = draft.place_within_cap(job, request_for(draft, job, *to - job.size()));
    if (!gang) continue;
    Reason reason = wish.grow_or_shrink;
    for (auto& entry : reason.numbers) {
      if (entry.name == "to") entry.value = figure(*to);  // as far as slots and price allow
    }
    draft.conclude(job, GrowIntent{job.id, std::move(*gang)}, reason, wish.weighed);
    return std::nullopt;
  }
  return Reason{ReasonCode::kNoSlotsToGrow, {{"wanted", figure(wanted)}, {"free", free}}};
}

std::optional<Reason> shrink(DecisionDraft& draft, const Job& job, const Wish& wish) {
  if (auto reason = cooling_down(draft, job)) return reason;
  const bool by_policy = job.pinned_size == 0;
  const auto left = left_of(job.last_start_at, job.spec.elastic.min_runtime, draft.now());
  if (by_policy && left) return Reason{ReasonCode::kMinRuntime, {{"seconds_left", left->to_seconds()}}};
  std::vector<WorkerId> leavers = leavers_of(draft, job, job.size() - wish.size);
  std::vector<WorkerId> members = job.members;
  std::erase_if(members, [&](WorkerId id) { return contains(leavers, id); });
  draft.conclude(job, ShrinkIntent{job.id, std::move(leavers)}, wish.grow_or_shrink, wish.weighed);
  // Nobody has to boot: the switch follows at once.
  draft.carry_out(SwitchIntent{job.id, job.generation + 1, std::move(members), false}, wish.grow_or_shrink);
  return std::nullopt;
}

// The policy wants the job to hold nothing now: with notice, and not within its minimum run time.
std::optional<Reason> give_up_all(DecisionDraft& draft, const Job& job, const Wish& wish) {
  if (auto reason = preemption_barred(draft, job)) return reason;
  const bool explains = !explains_holding(wish.grow_or_shrink.code);
  preempt(draft, job, explains ? wish.grow_or_shrink : Reason{ReasonCode::kPreempted, {{"for_job", 0}}}, wish.weighed);
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
  if (!job.spec.preemptible) return Reason{ReasonCode::kAtMin, {{"size", figure(job.size())}}};
  const auto left = left_of(job.last_start_at, job.spec.elastic.min_runtime, draft.now());
  if (!left) return std::nullopt;
  return Reason{ReasonCode::kMinRuntime, {{"seconds_left", left->to_seconds()}}};
}

void preempt(DecisionDraft& draft, const Job& job, const Reason& reason, Weighed weighed) {
  draft.conclude(job, PreemptIntent{job.id, job.generation + 1, false}, reason, std::move(weighed));
}

void plan_size(DecisionDraft& draft, const Job& job) {
  if (!can_change(draft, job) || draft.resizes(job.id)) return;
  const Allotment* allotment = draft.follows_plan(job) ? draft.allotment_of(job) : nullptr;
  if (allotment != nullptr) {
    return plan_size(draft, job, {job.id, allotment->size, allotment->reason, allotment->lost, allotment->score});
  }
  SizeWish none{job.id, job.pinned_size, {}, {}};
  plan_size(draft, job, job.pinned_size > 0 ? none : draft.policy_of(job).size(draft.view(), job, draft.budget()));
}

void plan_size(DecisionDraft& draft, const Job& job, SizeWish asked) {
  if (!can_change(draft, job) || draft.resizes(job.id)) return;
  const StragglerPlan straggler = plan_straggler(draft, job, !cooling_down(draft, job) && !all_reserved(draft, job));
  if (straggler.acted) return;
  Wish wish = wish_of(job, std::move(asked));
  std::optional<Reason> held = wish.keep;
  if (wish.size == 0) {
    held = give_up_all(draft, job, wish);
  } else if (wish.size > job.size()) {
    held = straggler.needs_slot ? held : grow(draft, job, wish);
  } else if (wish.size < job.size()) {
    held = shrink(draft, job, wish);
  }
  if (!held) return;
  if (straggler.rebalance) return draft.conclude(job, *straggler.rebalance, *straggler.reason);
  if (straggler.reason) held = straggler.reason;
  draft.find(job, *held, std::move(wish.weighed));
}

bool waits_for_capacity(const Job& job) {
  const ReasonCode code = job.verdict.reason.code;
  return job.state == JobState::kRunning &&
         (code == ReasonCode::kNoSlotsToGrow || code == ReasonCode::kPriceCap || speaks_of_straggler(code));
}

bool claims_free_slots(const Job& job) {
  const ReasonCode code = job.verdict.reason.code;
  return job.state == JobState::kPending && (code == ReasonCode::kWaitingForSlots ||
                                             code == ReasonCode::kBehindOlderJob || code == ReasonCode::kWaitsForState);
}

}  // namespace tidepool::core
