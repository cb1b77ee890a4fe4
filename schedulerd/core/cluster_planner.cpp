#include "schedulerd/core/cluster_planner.hpp"

#include <algorithm>
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

// Every job once, with nothing or an allowed size; what its user has pinned is not taken away.
Status check_answer(const ClusterState& state, const std::set<JobId>& jobs, const PlanAnswer& answer) {
  if (answer.allotments.size() != jobs.size()) {
    return Error{ErrorCode::kInternal, "the plan sizes " + std::to_string(answer.allotments.size()) + " jobs, not " +
                                           std::to_string(jobs.size())};
  }
  for (const auto& [id, allotment] : answer.allotments) {
    if (!jobs.contains(id)) return Error{ErrorCode::kInternal, "the plan sizes " + id.text() + ", which is not asked"};
    if (!may_be_given(*state.find_job(id), allotment.size)) {
      return Error{ErrorCode::kInternal,
                   "the plan gives " + id.text() + " a size that it may not have: " + std::to_string(allotment.size)};
    }
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

bool is_news(const Job& job, const Allotment& next, Instant now) {
  if (!job.allotted) return true;
  const Allotment& before = job.allotted->allotment;
  if (before.size != next.size || before.mark != next.mark || !says_the_same(before.reason, next.reason)) return true;
  if (before.place != next.place && is_off_plan(job, next)) return true;
  return grounds_have_changed(job, now) || job.allotted->grounds.frozen != size_is_frozen(job, now);
}

}  // namespace

std::set<JobId> plan_cluster(DecisionDraft& draft, ClusterPlanner& planner, const std::set<JobId>& candidates) {
  const ClusterState& state = draft.state();
  std::set<JobId> jobs;
  std::set<JobId> own_ways;
  for (const JobId id : candidates) {
    const Job& job = *state.find_job(id);
    if (!counts(job, draft.now()) || draft.ends(id)) continue;
    jobs.insert(jobs.end(), id);
    if (!draft.follows_plan(job)) own_ways.insert(own_ways.end(), id);
  }
  Result<PlanAnswer> answer = planner.plan({draft.view(), jobs, own_ways}, draft.budget());
  if (answer) {
    if (Status lawful = check_answer(state, jobs, *answer); !lawful) answer = lawful.error();
  }
  Replan replan{.changes = {}, .mark = state.plan.mark, .wake = {}, .error = {}};
  if (answer) {
    replan.mark = answer->mark;
    replan.wake = answer->wake;
  } else {
    replan.error = answer.error().message;
  }
  std::set<JobId> changed;
  for (const JobId id : candidates) {
    const Job& job = *state.find_job(id);
    std::optional<Allotment> next;
    if (jobs.contains(id)) next = answer ? answer->allotments.at(id) : standing(job);
    if (next ? !is_news(job, *next, draft.now()) : !job.allotted) continue;
    changed.insert(changed.end(), id);
    replan.changes.push_back({id, std::move(next)});
  }
  draft.set_replan(std::move(replan));
  return changed;
}

bool is_off_plan(const Job& job, const Allotment& allotment) {
  if (job.state == JobState::kPending) return allotment.size > 0;
  return is_active(job.state) && job.size() != allotment.size;
}

}  // namespace tidepool::core
