#include "policies/order/fifo.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace tidepool::policies {

std::vector<JobId> Fifo::order(const core::ClusterView& view, core::StepBudget& budget) const {
  std::vector<std::tuple<std::int64_t, Instant, JobId>> waiting;
  const auto add = [&](JobId id, const core::Job& job) {
    waiting.emplace_back(-std::int64_t{job.spec.priority}, job.submitted_at, id);
  };
  if (view.pending != nullptr) {
    for (const JobId id : *view.pending) add(id, *view.state.find_job(id));
  } else {
    for (const auto& [id, job] : view.state.jobs) {
      if (job->state == core::JobState::kPending) add(id, *job);
    }
  }
  budget.spend(static_cast<std::int64_t>(waiting.size()));
  std::sort(waiting.begin(), waiting.end());
  std::vector<JobId> ids;
  ids.reserve(waiting.size());
  for (const auto& entry : waiting) ids.push_back(std::get<JobId>(entry));
  return ids;
}

}  // namespace tidepool::policies
