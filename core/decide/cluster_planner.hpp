// Makes a new plan for the whole cluster: asks the policy, checks its answer, and records what changes. An invalid
// answer is dropped with its reason; the old plan then stays in force, and jobs without a target keep their size.
#pragma once

#include <cstdint>

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// The jobs and nodes that a plan covers.
struct PlanScope {
  const IdSet<JobId>& candidates;  // all jobs that a plan may include, and all that the newest plan includes
  const IdSet<JobId>& looked_at;   // the jobs that this decision examines
  std::uint64_t nodes = 0;         // digest_of_nodes()
};

// Plans for the candidates for which counts() is true (plan_inputs.hpp); the others lose their targets. Puts the new
// plan into the draft and returns the jobs whose targets change. The cost is proportional to the jobs that the planner
// names: all candidates, or few.
[[nodiscard]] IdSet<JobId> plan_cluster(DecisionDraft& draft, Planner& planner, const PlanScope& scope);

// The planner's answer, changed where possible so that no job loses all its slots that was preempted as often as
// allowed or whose program refuses to leave. Such a job is kept if other jobs can release as many slots in its place,
// within the same bound. Otherwise it is planned with none all the same, for a guarantee, or for the time when its
// window has moved on or its refusal has expired.
[[nodiscard]] Result<PlanAnswer> plan_sparing(Planner& planner, PlanRequest request, StepBudget& budget);

// How a new plan differs for a job: not at all; only in the words of its reason; or in its size or the inputs of the
// size. Scores and rejected sizes are not compared.
enum class News { kNone, kWords, kPlan };
// Requires: the plan includes the job.
[[nodiscard]] News news_of(const Job& job, const Target& next, Instant now);
[[nodiscard]] bool is_news(const Job& job, const Target& next, Instant now);

// The job's size differs from its target.
[[nodiscard]] bool needs_reconcile(const Job& job, const Target& target);

}  // namespace tidepool::core
