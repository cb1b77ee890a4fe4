// A new plan for the whole cluster: asks the policy, checks its answer, and notes what it changes. A wrong answer is
// dropped with its reason; the old plan then stands, and jobs that it does not name stay as they are.
#pragma once

#include <set>

#include "schedulerd/core/decision_draft.hpp"

namespace tidepool::core {

// Plans for those of `candidates` that count (plan_grounds.hpp); the others lose their allotments. Puts the new plan
// into the draft and returns the jobs whose allotments change.
[[nodiscard]] std::set<JobId> plan_cluster(DecisionDraft& draft, ClusterPlanner& planner,
                                           const std::set<JobId>& candidates);

// The job does not have what the plan gives it.
[[nodiscard]] bool is_off_plan(const Job& job, const Allotment& allotment);

}  // namespace tidepool::core
