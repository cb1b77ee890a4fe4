#include "policies/cluster/optimus.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tidepool::policies::cluster {
namespace {

// How much sooner the job would end with one worker more; 0 at its largest size.
double gain_of_one_more(const JobRow& job, int size, int slots_per_node) {
  if (size + 1 > job.size_max) return 0;
  const double now = job.speed->step_seconds(packed(size, slots_per_node));
  const double next = job.speed->step_seconds(packed(size + 1, slots_per_node));
  if (!std::isfinite(next)) return 0;  // cannot run, or nobody knows
  return (now - next) * job.steps_left.value_or(1);
}

core::Reason reason_for(const JobRow& job, const Grant& grant, double gain, int free) {
  const auto size = double(grant.size);
  if (grant.size == 0) return {core::ReasonCode::kWaitingForSlots, {{"needed", 1}, {"free", 0}}};
  if (grant.size == job.size_max) return {core::ReasonCode::kAtMax, {{"size", size}}};
  if (free == 0 && gain > 0) return {core::ReasonCode::kNoSlotsToGrow, {{"wanted", size + 1}, {"free", 0}}};
  return {core::ReasonCode::kEfficiencySettled,
          {{"size", size}, {"next", size + 1}, {"efficiency", gain}, {"threshold", 0}}};
}

}  // namespace

Allocation Optimus::allocate(const View& view, core::StepBudget& budget) const {
  Allocation allocation{.grants = std::vector<Grant>(view.jobs.size()), .order = {}};
  std::vector<double> gain(view.jobs.size(), 0);
  const int slots_per_node = view.slots_per_node();
  int free = view.slots();
  const auto grow = [&](std::size_t row) {
    Grant& grant = allocation.grants[row];
    ++grant.size;
    --free;
    gain[row] = free > 0 ? gain_of_one_more(view.jobs[row], grant.size, slots_per_node) : 0;
  };
  for (std::size_t row = 0; row < view.jobs.size() && free > 0; ++row) grow(row);
  while (free > 0 && budget.spend(static_cast<std::int64_t>(gain.size()))) {
    const auto best = std::max_element(gain.begin(), gain.end());
    if (best == gain.end() || *best <= 0) break;
    grow(static_cast<std::size_t>(best - gain.begin()));
  }
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    allocation.grants[row].reason = reason_for(view.jobs[row], allocation.grants[row], gain[row], free);
  }
  allocation.order.resize(view.jobs.size());
  std::iota(allocation.order.begin(), allocation.order.end(), 0);
  std::sort(allocation.order.begin(), allocation.order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(allocation.grants[a].size, a) < std::pair(allocation.grants[b].size, b);
  });
  return allocation;
}

}  // namespace tidepool::policies::cluster
