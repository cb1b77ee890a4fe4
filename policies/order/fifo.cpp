#include "policies/order/fifo.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace tidepool::policies {

std::vector<JobId> Fifo::order(const core::ClusterView& view, core::StepBudget& budget) const {
  std::vector<std::tuple<std::int64_t, Instant, JobId>> waiting;
  for (const auto& [id, job] : view.state.jobs) {
    if (job->state != core::JobState::kPending) continue;
    waiting.emplace_back(-std::int64_t{job->spec.priority}, job->submitted_at, id);
  }
  budget.spend(static_cast<std::int64_t>(waiting.size()));
  std::sort(waiting.begin(), waiting.end());
  std::vector<JobId> ids;
  ids.reserve(waiting.size());
  for (const auto& entry : waiting) ids.push_back(std::get<JobId>(entry));
  return ids;
}

}  // namespace tidepool::policies
