#include "schedulerd/core/cluster_planner.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "schedulerd/core/job_state.hpp"
#include "schedulerd/core/plan_grounds.hpp"
#include "schedulerd/core/queue_planner.hpp"

namespace tidepool::core {
namespace {

bool may_be_given(const Job& job, int size) {
  const auto& sizes = job.spec.elastic.sizes;
  if (size != 0 && !std::binary_search(sizes.begin(), sizes.end(), size)) return false;
  const bool waits = job.state == JobState::kPending || job.state == JobState::kSuspending;
  return job.pinned_size == 0 || size == job.pinned_size || (waits && size < job.pinned_size);
}

PlanPart part_of(const DecisionDraft& draft, const Job& job) {
  if (!counts(job, draft.now()) || draft.ends(job.id)) return PlanPart::kNone;
  return draft.follows_plan(job) ? PlanPart::kSized : PlanPart::kOwnWay;
}

Error wrong(const std::string& what) {
  return {ErrorCode::kInternal, what};
}

// What the state says of the job can stand, so that a partial plan need not name it.
bool stands(const Job& job, Instant now) {
  return job.allotted && may_be_given(job, job.allotted->allotment.size) && !grounds_have_changed(job, now);
}

// Of a whole plan every job once, of a partial one at least those that were looked at and of whom what was said cannot
// stand; each with nothing or an allowed size. What its user has pinned is not taken away.
Status check_answer(const DecisionDraft& draft, const PlanScope& scope, const PlanAnswer& answer) {
  const auto counted = [&](JobId id) { return part_of(draft, *draft.state().find_job(id)) != PlanPart::kNone; };
  for (const auto& [id, allotment] : answer.allotments) {
    if (!scope.candidates.contains(id) || !counted(id)) {
      return wrong("the plan sizes " + id.text() + ", which is not asked");
    }
    if (!may_be_given(*draft.state().find_job(id), allotment.size)) {
      return wrong("the plan gives " + id.text() + " a size that it may not have: " + std::to_string(allotment.size));
    }
  }
  for (const JobId id : answer.whole ? scope.candidates : scope.looked_at) {
    if (answer.allotments.contains(id) || !scope.candidates.contains(id) || !counted(id)) continue;
    if (!answer.whole && stands(*draft.state().find_job(id), draft.now())) continue;
    return wrong("the plan gives " + id.text() + " no size, not even none");
  }
  return ok_status();
}

// What a job keeps when the policy's answer was dropped: its allotment, unless its user has asked for something else
// since.
Allotment standing(const Job& job) {
  if (job.allotted && may_be_given(job, job.allotted->allotment.size)) return job.allotted->allotment;
  const int size = job.pinned_size > 0 ? job.pinned_size : allowed_size(job, job.size());
  return {.size = job.members.empty() ? 0 : size, .reason = {ReasonCode::kPolicyFailed, {}}};
}

// All candidates, or of a partial plan those that it names and those that may have left it.
std::set<JobId> whom_it_concerns(const PlanScope& scope, const Result<PlanAnswer>& answer) {
  if (!answer || answer->whole) return scope.candidates;
  std::set<JobId> jobs;
  for (const auto& [id, allotment] : answer->allotments) jobs.insert(jobs.end(), id);
  for (const JobId id : scope.looked_at) {
    if (scope.candidates.contains(id)) jobs.insert(id);
  }
  return jobs;
}

// What the new plan gives the job, taken out of the answer; none if the plan does not count with it.
std::optional<Allotment> allotment_in(Result<PlanAnswer>& answer, const Job& job, PlanPart part) {
  if (part == PlanPart::kNone) return std::nullopt;
  if (!answer) return standing(job);
  const auto named = answer->allotments.find(job.id);
  if (named == answer->allotments.end()) return job.allotted->allotment;
  return std::move(named->second);
}

}  // namespace

std::set<JobId> plan_cluster(DecisionDraft& draft, ClusterPlanner& planner, const PlanScope& scope) {
  const ClusterState& state = draft.state();
  const std::function<PlanPart(const Job&)> part = [&](const Job& job) { return part_of(draft, job); };
  Result<PlanAnswer> answer =
      planner.plan({draft.view(), scope.candidates, scope.looked_at, part, scope.nodes}, draft.budget());
  if (answer) {
    if (Status lawful = check_answer(draft, scope, *answer); !lawful) answer = lawful.error();
  }
  Replan replan{.changes = {}, .mark = state.plan.mark, .wake = {}, .error = {}};
  if (answer) {
    replan.mark = answer->mark;
    replan.wake = answer->wake;
  } else {
    replan.error = answer.error().message;
  }
  std::set<JobId> changed;
  for (const JobId id : whom_it_concerns(scope, answer)) {
    const Job& job = *state.find_job(id);
    std::optional<Allotment> next = allotment_in(answer, job, part(job));
    if (next ? !is_news(job, *next, draft.now()) : !job.allotted) continue;
    changed.insert(changed.end(), id);
    replan.changes.push_back({id, std::move(next)});
  }
  draft.set_replan(std::move(replan));
  return changed;
}

bool is_news(const Job& job, const Allotment& next, Instant now) {
  if (!job.allotted) return true;
  const Allotment& before = job.allotted->allotment;
  if (before.size != next.size || before.mark != next.mark || !says_the_same(before.reason, next.reason)) return true;
  if (before.place != next.place && is_off_plan(job, next)) return true;
  return grounds_have_changed(job, now) || job.allotted->grounds.frozen != size_is_frozen(job, now);
}

bool is_off_plan(const Job& job, const Allotment& allotment) {
  if (job.state == JobState::kPending) return allotment.size > 0;
  return is_active(job.state) && job.size() != allotment.size;
}

}  // namespace tidepool::core
