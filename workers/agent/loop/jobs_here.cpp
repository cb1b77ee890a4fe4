#include "workers/agent/loop/jobs_here.hpp"

#include <algorithm>

namespace tidepool::agent {

bool JobsHere::has(JobId job) const {
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& entry) { return entry.second == job; });
}

std::optional<JobsHere::Left> JobsHere::leave(WorkerId worker) {
  const auto left = jobs_.extract(worker);
  if (left.empty() || has(left.mapped())) return std::nullopt;
  const JobId job = left.mapped();
  return Left{.job = job, .ended = ended_.erase(job) > 0};
}

bool JobsHere::end(JobId job) {
  if (!has(job)) return true;
  ended_.insert(job);
  return false;
}

}  // namespace tidepool::agent
