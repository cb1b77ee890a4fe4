// Plans the size of one running job: a straggler is replaced first; then the job moves towards its target (its user's,
// or its policy's) as far as cooldown, minimum run time, free slots, price cap and batch allow.
#pragma once

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// Does nothing for a job that is not running or has a change of membership under way.
void plan_size(DecisionDraft& draft, const Job& job);
// The same with a given target; a size pinned by the user takes precedence.
void plan_size(DecisionDraft& draft, const Job& job, const Target& target);
// Keeps the job at its present size, which differs from its target, and records why.
void keep_size(DecisionDraft& draft, const Job& job, const Target& target, const Reason& why);

// It is within its cooldown.
[[nodiscard]] bool cools_down(const DecisionDraft& draft, const Job& job);
// The job runs, has no change of membership under way, and will continue.
[[nodiscard]] bool is_settled(const DecisionDraft& draft, const Job& job);
// The same, and it does not have to leave a node first (drain_planner.hpp).
[[nodiscard]] bool can_change(const DecisionDraft& draft, const Job& job);
// It can change, or it holds its slots in a state that need not end on its own: some of its programs have ended while
// others run, they have failed and will be restarted, or it leaves a node before the end of a drain.
[[nodiscard]] bool can_give_up(const DecisionDraft& draft, const Job& job);
// Why a job that can change must not grow to this size, whatever slots are free; none if it may.
[[nodiscard]] std::optional<Reason> growth_barred(DecisionDraft& draft, const Job& job, int size);
// Why a job that can release its slots must not be preempted; none if it may be.
[[nodiscard]] std::optional<Reason> preemption_barred(const DecisionDraft& draft, const Job& job);
// Takes all slots from a job that can change and may be preempted.
void preempt(DecisionDraft& draft, const Job& job, const Reason& reason, const Target* target);
// The same for a job that can release its slots, for another job, which gets them. `restarts`: the preempted job finds
// other slots to start again on at once.
void preempt_for(DecisionDraft& draft, const Job& job, JobId claimant, bool restarts = false);

// Whether the job's next step depends on free slots or the queue: it is examined again when they change.
[[nodiscard]] bool waits_for_capacity(const Job& job);

// Whether a waiting job stops running ones from growing: slots would help it.
[[nodiscard]] bool claims_free_slots(const Job& job);

}  // namespace tidepool::core
