// In which order jobs stand in line for slots.
//
// Safe rules. The order follows from the state and the plan alone, and every one ends at the job's id. None that is
// about to end stands in line.
#pragma once

#include <vector>

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// In the plan's order: those that do not have what it gives them. First are jobs for which others have left nodes,
// gangs for which others were preempted within limits, and claims of a guaranteed type, so that none takes the slots
// that were left for them; with a limit of the pool, claims within any guarantee, which count against it. Last, behind
// their claimants, those that gave up slots for others. Running jobs of a pinned policy are its rule's.
[[nodiscard]] std::vector<TargetedJob> line_of(DecisionDraft& draft, const IdSet<JobId>& to_reconcile);

// By rank: all that wait and are not about to end.
[[nodiscard]] std::vector<JobId> line_of(const DecisionDraft& draft, const JobRule& rule, const IdSet<JobId>& pending);

}  // namespace tidepool::core
