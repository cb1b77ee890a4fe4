#include "studies/baselines/edf.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "policies/cluster/queue_grants.hpp"
#include "policies/cluster/size_levels.hpp"

namespace tidepool::policies::cluster {

Allocation EarliestDeadline::allocate(const View& view, core::StepBudget& budget) const {
  std::vector<std::tuple<bool, Instant, std::size_t>> ranked;
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    const auto& deadline = view.jobs[row].deadline;
    ranked.emplace_back(!deadline, deadline.value_or(Instant()), row);
  }
  std::sort(ranked.begin(), ranked.end());
  budget.spend(static_cast<std::int64_t>(ranked.size()));
  Allocation allocation{.grants = std::vector<Grant>(view.jobs.size()), .order = {}, .placements = {}};
  Line line{.measure = core::measure::kDeadline, .waits = std::vector<LineWait>(view.jobs.size())};
  int free = view.slots();
  for (const auto& [none, deadline, row] : ranked) {
    const JobRow& job = view.jobs[row];
    Grant& grant = allocation.grants[row];
    grant.mark = job.mark;
    grant.size = level_within(levels_of(job, view.slots(), view.slots_per_node()), free).size;
    grant.reason = core::reason::TurnWait{.needed = job.size_min, .free = free};
    line.waits[row] = {.needed = job.size_min, .free = free};
    free -= grant.size;
    allocation.order.push_back(row);
  }
  for (const JobRow& job : view.jobs) {
    line.own.push_back(job.deadline ? (*job.deadline - view.now).to_seconds() : -1);
  }
  explain_line(view, line, allocation);
  return allocation;
}

}  // namespace tidepool::policies::cluster
