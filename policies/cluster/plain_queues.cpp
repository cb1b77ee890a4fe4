#include "policies/cluster/plain_queues.hpp"

#include <cmath>
#include <limits>

#include "policies/cluster/queue_grants.hpp"

namespace tidepool::policies::cluster {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

// The most urgent first, whose value is least.
std::vector<std::size_t> queue_by(const std::vector<double>& urgency, core::StepBudget& budget) {
  budget.spend(static_cast<std::int64_t>(urgency.size()));
  return rows_by(urgency);
}

}  // namespace

Allocation StrictFifo::allocate(const View& view, core::StepBudget& budget) const {
  const std::vector<double> equal(view.jobs.size(), 0);
  return grant_in_order(view, queue_by(equal, budget), Overtaking::kNever);
}

// Jobs that run go before those that wait, so none is preempted.
Allocation FifoBackfill::allocate(const View& view, core::StepBudget& budget) const {
  std::vector<double> waits;
  waits.reserve(view.jobs.size());
  for (const JobRow& job : view.jobs) waits.push_back(job.placement.empty() ? 1 : 0);
  return grant_in_order(view, queue_by(waits, budget), Overtaking::kAllowed);
}

Allocation ShortestRemaining::allocate(const View& view, core::StepBudget& budget) const {
  const int slots_per_node = view.slots_per_node();
  std::vector<double> remaining;
  Line line{.measure = core::measure::kTimeLeft};
  for (const JobRow& job : view.jobs) {
    const double seconds =
        job.steps_left ? *job.steps_left * job.speed->step_seconds(packed(job.size_wanted, slots_per_node)) : kUnknown;
    remaining.push_back(seconds);
    line.own.push_back(std::isfinite(seconds) ? seconds : -1);
  }
  return grant_in_order(view, queue_by(remaining, budget), Overtaking::kAllowed, line);
}

Allocation LeastAttained::allocate(const View& view, core::StepBudget& budget) const {
  Line line{.measure = core::measure::kService};
  for (const JobRow& job : view.jobs) line.own.push_back(job.slot_seconds);
  return grant_in_order(view, queue_by(line.own, budget), Overtaking::kAllowed, line);
}

}  // namespace tidepool::policies::cluster
