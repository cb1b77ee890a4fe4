// The order in which jobs in line get slots.
//
// Safe rules. The order follows from the state and the plan alone, and every comparison ends at the job's id. No job
// that is about to end is in line.
#pragma once

#include <vector>

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// In the plan's order: the jobs whose size differs from their target. First are jobs for which others have left nodes,
// gangs for which others were preempted within limits, and claims of a guaranteed type, so that no other job takes the
// slots released for them; with a limit of the pool also claims within any guarantee, which count against it. Last,
// after their claimants, are jobs that released slots for others. Running jobs of a pinned policy are sized by its
// rule.
[[nodiscard]] std::vector<TargetedJob> line_of(DecisionDraft& draft, const IdSet<JobId>& to_reconcile);

// By rank: all jobs that wait and are not about to end.
[[nodiscard]] std::vector<JobId> line_of(const DecisionDraft& draft, const JobRule& rule, const IdSet<JobId>& pending);

}  // namespace tidepool::core
