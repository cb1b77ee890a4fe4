// Brings the cluster towards its plan: who has too much gives up first, then slots are handed out in the plan's order.
//
// Safe rules. A job takes no more than the plan gives it. What is free, or on its way to being free, is kept for
// whoever comes first in the plan and does not fit yet; nobody behind it takes that. A running job to which the plan
// gives nothing is preempted only if a job before it in line needs its slots, and no more of them than that job needs;
// the last in the plan's order goes first. Who may not be preempted, or not yet, stays, and so does who ends sooner
// than it could be started again (job_work.hpp), unless for a higher priority. Settling twice changes nothing. For a
// job that asks for a type of slot only those are preempted who hold such slots; else workers of others move elsewhere
// (type_moves.hpp). While it waits, no job behind it takes slots of that type.
#pragma once

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

struct Unsettled {
  const IdSet<JobId>& off_plan;  // every job that does not have what the plan gives it; others do no harm
  const IdSet<JobId>& giving;    // every job of which gives_slots() holds
};
// Returns the jobs that it has dealt with.
[[nodiscard]] IdSet<JobId> settle(DecisionDraft& draft, const Unsettled& unsettled);

// Some of its workers are on their way out: their slots will be free without anybody deciding more.
[[nodiscard]] bool gives_slots(const ClusterState& state, const Job& job);

}  // namespace tidepool::core
