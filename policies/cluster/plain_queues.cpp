#include "policies/cluster/plain_queues.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "policies/cluster/queue_grants.hpp"

namespace tidepool::policies::cluster {
namespace {

// Rows by `urgency`, least first; equal ones in order of submission.
template <class Urgency>
std::vector<std::size_t> queue_by(const View& view, core::StepBudget& budget, Urgency urgency) {
  budget.spend(static_cast<std::int64_t>(view.jobs.size()));
  std::vector<std::pair<double, std::size_t>> ranked;
  ranked.reserve(view.jobs.size());
  for (std::size_t row = 0; row < view.jobs.size(); ++row) ranked.emplace_back(urgency(view.jobs[row]), row);
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::size_t> queue;
  queue.reserve(ranked.size());
  for (const auto& [value, row] : ranked) queue.push_back(row);
  return queue;
}

}  // namespace

Allocation StrictFifo::allocate(const View& view, core::StepBudget& budget) const {
  return grant_in_order(view, queue_by(view, budget, [](const JobRow&) { return 0; }), Overtaking::kNever);
}

Allocation ShortestRemaining::allocate(const View& view, core::StepBudget& budget) const {
  const int slots_per_node = view.slots_per_node();
  const auto remaining = [&](const JobRow& job) {
    if (!job.steps_left) return std::numeric_limits<double>::infinity();
    return *job.steps_left * job.speed->step_seconds(packed(job.size_wanted, slots_per_node));
  };
  return grant_in_order(view, queue_by(view, budget, remaining), Overtaking::kAllowed);
}

Allocation LeastAttained::allocate(const View& view, core::StepBudget& budget) const {
  return grant_in_order(view, queue_by(view, budget, [](const JobRow& job) { return job.slot_seconds; }),
                        Overtaking::kAllowed);
}

}  // namespace tidepool::policies::cluster
