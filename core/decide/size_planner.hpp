// The size of one running job: a straggler is replaced first; then the job goes towards its target (its user's, or its
// policy's) as far as cooldown, minimum run time, free slots, price cap and batch allow.
#pragma once

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// Does nothing for a job that is not running or has a change of membership under way.
void plan_size(DecisionDraft& draft, const Job& job);
// The same for a given target, which a size pinned by the user goes before.
void plan_size(DecisionDraft& draft, const Job& job, const Target& target);
// Leaves the job, whose target is another size, at the one that it has, and says why.
void keep_size(DecisionDraft& draft, const Job& job, const Target& target, const Reason& why);

// Its size changed a moment ago.
[[nodiscard]] bool cools_down(const DecisionDraft& draft, const Job& job);
// The job runs, has no change of membership under way, and is to go on.
[[nodiscard]] bool is_settled(const DecisionDraft& draft, const Job& job);
// The same, and no node has to be left first (drain_planner.hpp).
[[nodiscard]] bool can_change(const DecisionDraft& draft, const Job& job);
// It can change, or it holds its slots in a way that need not end by itself: some of its programs have ended while the
// others go on, they have failed and are to start anew, or it leaves a node before the end of a drain.
[[nodiscard]] bool can_give_up(const DecisionDraft& draft, const Job& job);
// What keeps a job that can change from growing towards this size, whatever slots are free.
[[nodiscard]] std::optional<Reason> growth_barred(DecisionDraft& draft, const Job& job, int size);
// What keeps a job that can give up its slots from being preempted.
[[nodiscard]] std::optional<Reason> preemption_barred(const DecisionDraft& draft, const Job& job);
// Takes all slots from a job that can change and whose preemption is not barred.
void preempt(DecisionDraft& draft, const Job& job, const Reason& reason, const Target* target);
// The same of one that can give up its slots, for another job, which is to have them. `restarts`: it finds others to
// start again on at once.
void preempt_for(DecisionDraft& draft, const Job& job, JobId claimant, bool restarts = false);

// Whether free slots or the queue decide what becomes of the job: it is looked at again when they change.
[[nodiscard]] bool waits_for_capacity(const Job& job);

// Whether a waiting job keeps running ones from growing: slots would help it.
[[nodiscard]] bool claims_free_slots(const Job& job);

}  // namespace tidepool::core
