// A new plan for the whole cluster: asks the policy, checks its answer, and notes what it changes. A wrong answer is
// dropped with its reason; the old plan then stands, and jobs that it does not name stay as they are.
#pragma once

#include <cstdint>

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// The jobs and nodes that a plan is about.
struct PlanScope {
  const IdSet<JobId>& candidates;  // all that any plan may count with, and all that the newest one does
  const IdSet<JobId>& looked_at;   // that the decision looks at
  std::uint64_t nodes = 0;         // digest_of_nodes()
};

// Plans for those candidates that count (plan_inputs.hpp); the others lose their targets. Puts the new plan into
// the draft and returns the jobs whose targets change. Costs what the planner names: all candidates, or few.
[[nodiscard]] IdSet<JobId> plan_cluster(DecisionDraft& draft, Planner& planner, const PlanScope& scope);

// The planner's answer in which, if it can be, none gives up all its slots that was preempted as often as is allowed or
// whose program refuses to leave: such a job is spared where others give way in its place, so that jobs get as many
// more slots as they would without that, within the same bound. Where none does it is given nothing all the same, for a
// guarantee, or for when its window has moved on or its refusal is over.
[[nodiscard]] Result<PlanAnswer> plan_sparing(Planner& planner, PlanRequest request, StepBudget& budget);

// What is new in a plan for a job: nothing; only its reason's words; or its size, or the inputs that rests on. Scores
// and sizes that lost are not compared.
enum class News { kNone, kWords, kPlan };
// Requires: the plan counts with the job.
[[nodiscard]] News news_of(const Job& job, const Target& next, Instant now);
[[nodiscard]] bool is_news(const Job& job, const Target& next, Instant now);

// The job does not have what the plan gives it.
[[nodiscard]] bool needs_reconcile(const Job& job, const Target& target);

}  // namespace tidepool::core
