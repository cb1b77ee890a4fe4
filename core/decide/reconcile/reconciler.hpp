// Brings the cluster towards the targets of the active policy: jobs above their target release slots first, then slots
// are allocated in line.
//
// If targets come from a plan, every job whose size differs from its target is in line in the plan's order
// (LineRule::kReserves): free slots and slots being released are reserved for the first job that does not fit yet, and
// running jobs whose target is 0 are preempted for it (preemption.hpp). If targets come from a rule, waiting jobs are
// in line by rank, and a job that does not fit is passed or blocks all behind it; running jobs grow only while none
// waits.
//
// Parts: line_order.hpp (the order), victims.hpp (which jobs may be preempted), preemption.hpp and room_on_nodes.hpp
// (the room that they make), node_claims.hpp (jobs that request particular nodes), node_clearing.hpp (nodes cleared for
// a gang), holding_limits.hpp (jobs that leave because of their tenant's limit) and pending_reasons.hpp (what waiting
// jobs lack).
//
// Safe rules. A job gets no more than its target, starts whole or not at all, and at no higher price than its cap. A
// job that waits for slots where its state is blocks no other job. While a job waits for a slot type, no job behind it
// takes slots of that type that are being released. Reconciling twice changes nothing.
#pragma once

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"
#include "core/decide/waiting_line.hpp"

namespace tidepool::core {

// The jobs that a plan's targets require changes for.
struct OffPlan {
  const IdSet<JobId>& jobs;       // every job whose size differs from its target; may contain others
  const IdSet<JobId>& releasing;  // every job for which releases_slots() is true
};
// Returns the jobs that it has handled. Requires: the active policy plans.
[[nodiscard]] IdSet<JobId> reconcile(DecisionDraft& draft, const OffPlan& to_reconcile);

// Starts jobs that wait for the size given by a rule. Tells the draft whether any of them continues to wait for slots
// that the cluster has. Requires: the active policy is a rule.
struct InLine {
  const IdSet<JobId>& pending;
  // The pending jobs in order: only those with room, and those that must be examined, are examined. Null: all are, for
  // example when the nodes changed since the line was judged.
  const WaitingLine* line = nullptr;
};
void reconcile(DecisionDraft& draft, const InLine& waiting);

}  // namespace tidepool::core
