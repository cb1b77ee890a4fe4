#include "studies/baselines/optimus.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "policies/cluster/queue_grants.hpp"
#include "policies/cluster/size_grants.hpp"

namespace tidepool::policies::cluster {
namespace {

// How much sooner the job would end with one worker more; 0 at its largest size.
double gain_of_one_more(const JobRow& job, int size, int slots_per_node) {
  if (size + 1 > job.size_max) return 0;
  const double now = job.speed->step_seconds(packed(size, slots_per_node));
  const double next = job.speed->step_seconds(packed(size + 1, slots_per_node));
  if (!std::isfinite(next)) return 0;  // cannot run, or is not known
  return (now - next) * job.steps_left.value_or(1);
}

// Hours sooner than at its smallest size; a job that holds nothing is not weighed: all have that before any has more.
Weighing by_time_saved(const View& view) {
  const int slots_per_node = view.slots_per_node();
  return {.measure = core::measure::kTimeSaved, .worth = [&view, slots_per_node](std::size_t row, int size) {
            const JobRow& job = view.jobs[row];
            if (size == 0) return -std::numeric_limits<double>::infinity();
            const double alone = job.speed->step_seconds(packed(job.size_min, slots_per_node));
            return (alone - job.speed->step_seconds(packed(size, slots_per_node))) * job.steps_left.value_or(1) / 3'600;
          }};
}

}  // namespace

Allocation Optimus::allocate(const View& view, core::StepBudget& budget) const {
  std::vector<ChosenSize> chosen(view.jobs.size());
  std::vector<double> gain(view.jobs.size(), 0);
  const int slots_per_node = view.slots_per_node();
  int free = view.slots();
  const auto grow = [&](std::size_t row, int by) {
    const int size = chosen[row].size += by;
    free -= by;
    gain[row] = free > 0 ? gain_of_one_more(view.jobs[row], size, slots_per_node) : 0;
  };
  for (std::size_t row = 0; row < view.jobs.size() && free > 0; ++row) {
    if (view.jobs[row].size_min <= free) grow(row, view.jobs[row].size_min);
  }
  while (free > 0 && budget.spend(static_cast<std::int64_t>(gain.size()))) {
    const auto best = std::max_element(gain.begin(), gain.end());
    if (best == gain.end() || *best <= 0) break;
    grow(static_cast<std::size_t>(best - gain.begin()), 1);
  }
  Allocation allocation = grant_sizes(view, chosen, by_time_saved(view));
  explain_line(view, by_arrival(view), allocation, ExplainedRows::kWaiting);
  std::sort(allocation.order.begin(), allocation.order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(allocation.grants[a].size, a) < std::pair(allocation.grants[b].size, b);
  });
  return allocation;
}

}  // namespace tidepool::policies::cluster
