// Brings the cluster towards the targets of the policy in charge: jobs with too much give up first, then slots are
// handed out in line.
//
// Where targets are a plan's, every job that does not have what it gives stands in line in the plan's order
// (LineRule::kReserves): what is free, or on its way to being free, is kept for the job that comes first and does not
// fit yet, and running jobs to which the plan gives nothing are preempted for it (preemption.hpp). Where targets are a
// rule's, the jobs that wait stand in line by rank, and one that does not fit is passed or waits with all behind it;
// running jobs grow only while none waits.
//
// Its parts: line_order.hpp (who comes first), victims.hpp (who may give way), preemption.hpp and room_on_nodes.hpp
// (room that they make), node_claims.hpp (jobs that ask for particular nodes), node_clearing.hpp (nodes that others
// leave for a gang), holding_limits.hpp (jobs that leave because of what their tenant may hold) and pending_reasons.hpp
// (what those lack that wait).
//
// Safe rules. A job takes no more than its target, starts whole or not at all, and at no higher price than its cap. One
// that waits for slots where its state lies holds up no other. While a job that asks for a type of slot waits, no job
// behind it takes slots of that type, if they are coming. Reconciling twice changes nothing.
#pragma once

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"
#include "core/decide/waiting_line.hpp"

namespace tidepool::core {

// The jobs that a plan's targets leave something to do for.
struct OffPlan {
  const IdSet<JobId>& jobs;       // every job that does not have what the plan gives it; others do no harm
  const IdSet<JobId>& releasing;  // every job of which releases_slots() holds
};
// Returns the jobs that it has dealt with. Requires: the policy in charge plans.
[[nodiscard]] IdSet<JobId> reconcile(DecisionDraft& draft, const OffPlan& to_reconcile);

// Those that wait for what a rule says they should have. Tells the draft whether any of them goes on waiting for slots
// that the cluster has. Requires: the policy in charge is a rule.
struct InLine {
  const IdSet<JobId>& pending;
  // They in order: only those are looked at for which there is room and those that must be. Null: all of them are, as
  // when the nodes are not those for which the line's settled jobs were judged.
  const WaitingLine* line = nullptr;
};
void reconcile(DecisionDraft& draft, const InLine& waiting);

}  // namespace tidepool::core
