#include "policies/cluster/tiresias.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tidepool::policies::cluster {
namespace {

Mark mark_after(const JobRow& job, Instant now) {
  if (job.mark.level == 0 && job.held.to_seconds() * job.size_wanted >= Tiresias::kQueueThreshold) {
    return {.level = 1, .since = now};
  }
  return job.mark;
}

}  // namespace

TwoQueues two_queues(const View& view) {
  TwoQueues queues{.marks = {}, .order = std::vector<std::size_t>(view.jobs.size())};
  for (const JobRow& job : view.jobs) queues.marks.push_back(mark_after(job, view.now));
  std::iota(queues.order.begin(), queues.order.end(), 0);
  // Rows are in order of submission, so a row's index is its place in the first queue.
  std::sort(queues.order.begin(), queues.order.end(), [&](std::size_t a, std::size_t b) {
    const Mark& first = queues.marks[a];
    const Mark& second = queues.marks[b];
    return std::tuple(first.level, first.since, a) < std::tuple(second.level, second.since, b);
  });
  return queues;
}

Line line_of_queues(const std::vector<Mark>& marks) {
  Line line{.measure = core::measure::kQueue};
  for (const Mark& mark : marks) line.own.push_back(mark.level + 1);
  return line;
}

Allocation Tiresias::allocate(const View& view, core::StepBudget& budget) const {
  budget.spend(static_cast<std::int64_t>(view.jobs.size()));
  TwoQueues queues = two_queues(view);
  Allocation allocation =
      grant_in_order(view, std::move(queues.order), Overtaking::kAllowed, line_of_queues(queues.marks));
  for (std::size_t row = 0; row < view.jobs.size(); ++row) allocation.grants[row].mark = queues.marks[row];
  return allocation;
}

}  // namespace tidepool::policies::cluster
