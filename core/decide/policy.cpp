#include "core/decide/policy.hpp"

#include <algorithm>

namespace tidepool::core {

QueueRank JobRule::rank(const Job& job) const {
  return {.number = -std::int64_t{job.spec.priority}, .since = job.submitted_at};
}

Result<PlanAnswer> Policy::plan(const PlanRequest& request, StepBudget& budget) const {
  if (const auto anew = planner()) {
    for (const auto& [id, job] : request.view.state.jobs) anew->follow(request.view.state, id);
    return anew->plan(request, budget);
  }
  std::vector<std::pair<QueueRank, JobId>> line;
  for (const JobId id : request.jobs) {
    const Job& job = *request.view.state.find_job(id);
    if (request.counts(job)) line.emplace_back(rule()->rank(job), id);
  }
  std::sort(line.begin(), line.end());
  PlanAnswer answer;
  for (const auto& [rank, id] : line) {
    const Job& job = *request.view.state.find_job(id);
    Target target = job.requests.pinned_size > 0 ? pinned_target(job) : rule()->target(request.view, job, budget);
    target.place = static_cast<std::int64_t>(answer.targets.size());
    answer.targets.emplace(id, std::move(target));
  }
  return answer;
}

Target pinned_target(const Job& job) {
  const int from = job.size();
  const int to = job.requests.pinned_size;
  Target target{.size = to, .reason = reason::PinnedByUser{{.size = to}}, .lost = {}, .mark = {}};
  if (from != 0 && from != to) target.reason = reason::ResizedByUser{{.from = from, .to = to}};
  return target;
}

}  // namespace tidepool::core
