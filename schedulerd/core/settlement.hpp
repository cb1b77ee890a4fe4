// Brings the cluster towards its plan: who has too much gives up first, then slots are handed out in the plan's order.
//
// Safe rules. A job takes no more than the plan gives it. What is free, or on its way to being free, is kept for
// whoever comes first in the plan and does not fit yet; nobody behind it takes that. A running job to which the plan
// gives nothing is preempted only if a job before it in line needs its slots, and no more of them than that job needs;
// the last in the plan's order goes first. Who may not be preempted, or not yet, stays. Settling twice changes nothing.
#pragma once

#include <set>

#include "schedulerd/core/decision_draft.hpp"

namespace tidepool::core {

// `off_plan`: every job that does not have what the plan gives it; others do no harm. Returns the jobs it has dealt
// with.
[[nodiscard]] std::set<JobId> settle(DecisionDraft& draft, const std::set<JobId>& off_plan);

}  // namespace tidepool::core
