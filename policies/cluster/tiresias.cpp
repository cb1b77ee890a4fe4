#include "policies/cluster/tiresias.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "policies/cluster/queue_grants.hpp"

namespace tidepool::policies::cluster {
namespace {

Mark mark_after(const JobRow& job, Instant now) {
  if (job.mark.level == 0 && job.held.to_seconds() * job.size_wanted >= Tiresias::kQueueThreshold) {
    return {.level = 1, .since = now};
  }
  return job.mark;
}

}  // namespace

Allocation Tiresias::allocate(const View& view, core::StepBudget& budget) const {
  budget.spend(static_cast<std::int64_t>(view.jobs.size()));
  std::vector<Mark> marks;
  marks.reserve(view.jobs.size());
  for (const JobRow& job : view.jobs) marks.push_back(mark_after(job, view.now));
  std::vector<std::size_t> queue(view.jobs.size());
  std::iota(queue.begin(), queue.end(), 0);
  // Rows are in order of submission, so a row's index is its place in the first queue.
  std::sort(queue.begin(), queue.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(marks[a].level, marks[a].since, a) < std::tuple(marks[b].level, marks[b].since, b);
  });
  Allocation allocation = grant_in_order(view, std::move(queue), Overtaking::kAllowed);
  for (std::size_t row = 0; row < marks.size(); ++row) allocation.grants[row].mark = marks[row];
  return allocation;
}

}  // namespace tidepool::policies::cluster
