#include "policies/order/fifo.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tidepool::policies {

std::vector<JobId> Fifo::order(const core::ClusterView& view, core::StepBudget& budget) const {
  std::vector<std::pair<core::QueueRank, JobId>> waiting;
  const auto add = [&](JobId id, const core::Job& job) { waiting.emplace_back(*rank(job), id); };
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
  for (const auto& entry : waiting) ids.push_back(entry.second);
  return ids;
}

std::optional<core::QueueRank> Fifo::rank(const core::Job& job) const {
  return core::QueueRank{.number = -std::int64_t{job.spec.priority}, .since = job.submitted_at};
}

}  // namespace tidepool::policies
