#include "core/decide/reconcile/pending_reasons.hpp"

#include <utility>

#include "core/decide/state_wait.hpp"
#include "core/place/gang_rules.hpp"

namespace tidepool::core {

void PendingReasons::record(Victims& victims, const IdSet<JobId>& held_up) {
  record_held_up(victims, held_up);
  for (const auto& [job, lacks, target] : left_) {
    const auto held = waits_for_state(draft_, *job);
    const Finding& why = held ? *held : lacks;
    if (!DecisionDraft::is_said(*job, why.reason, why.blocked)) draft_.find(*job, why, target);
  }
}

// Jobs for which no other is preempted because of the limits. Of one that room is kept for only how long it waits.
void PendingReasons::record_held_up(Victims& victims, const IdSet<JobId>& held_up) {
  if (victims.limits().none()) return;
  for (WaitingJob& left : left_) {
    const Job& job = *left.job;
    if (left.lacks.blocked.on != BlockedOn::kSlots || has_gang_rule(job.spec)) continue;
    const bool lacks_room = held_up.contains(job.id);
    if (!lacks_room && draft_.now() >= may_preempt_from(draft_.state(), job)) continue;
    if (auto why = victims.why_held_up(job, free_for(draft_, job))) left.lacks.reason = *std::move(why);
  }
}

}  // namespace tidepool::core
