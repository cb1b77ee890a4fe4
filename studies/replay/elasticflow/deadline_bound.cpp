#include "studies/replay/elasticflow/deadline_bound.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace tidepool::sim {
namespace {

// Of (time to the deadline, seconds of the whole pool): all may begin at once.
std::int64_t most_from_start(std::vector<std::pair<double, double>> jobs) {
  std::sort(jobs.begin(), jobs.end());
  std::multiset<double> kept;
  double sum = 0;
  for (const auto& [due, need] : jobs) {
    kept.insert(need);
    sum += need;
    if (sum <= due) continue;
    sum -= *kept.rbegin();
    kept.erase(std::prev(kept.end()));
  }
  return static_cast<std::int64_t>(kept.size());
}

}  // namespace

std::int64_t most_in_time(const std::vector<DueJob>& jobs, int slots) {
  double first = 0;
  double last = 0;
  std::vector<const DueJob*> able;
  for (const DueJob& job : jobs) {
    if (job.submitted_s + job.seconds > job.due_s) continue;  // not even alone
    if (able.empty() || job.submitted_s < first) first = job.submitted_s;
    if (able.empty() || job.due_s > last) last = job.due_s;
    able.push_back(&job);
  }
  std::vector<std::pair<double, double>> forward;
  std::vector<std::pair<double, double>> backward;
  for (const DueJob* job : able) {
    forward.emplace_back(job->due_s - first, job->slot_seconds / slots);
    backward.emplace_back(last - job->submitted_s, job->slot_seconds / slots);
  }
  return std::min(most_from_start(std::move(forward)), most_from_start(std::move(backward)));
}

}  // namespace tidepool::sim
