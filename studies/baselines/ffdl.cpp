#include "studies/baselines/ffdl.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "policies/cluster/queue_grants.hpp"
#include "policies/cluster/size_grants.hpp"
#include "studies/baselines/best_sizes.hpp"

namespace tidepool::policies::cluster {

Allocation Ffdl::allocate(const View& view, core::StepBudget& budget) const {
  const int slots = view.slots();
  std::vector<std::size_t> served;
  std::vector<std::vector<double>> worth;
  int needed = 0;
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    const JobRow& job = view.jobs[row];
    if (needed + job.size_min > slots) continue;
    needed += job.size_min;
    served.push_back(row);
    worth.push_back(speedup_table(job, view.slots_per_node(), std::min(job.size_max, slots)));
    std::fill_n(worth.back().begin(), job.size_min, -std::numeric_limits<double>::infinity());
  }
  std::vector<ChosenSize> chosen(view.jobs.size());
  std::vector<std::vector<double>> tables(view.jobs.size());
  const auto sizes = best_sizes(worth, slots, budget);
  for (std::size_t i = 0; i < served.size(); ++i) {
    const int size = sizes ? (*sizes)[i] : view.jobs[served[i]].size_min;
    chosen[served[i]].size = size;
    tables[served[i]] = std::move(worth[i]);
  }
  Allocation allocation = grant_sizes(view, chosen, by_speedup(tables));
  explain_line(view, by_arrival(view), allocation, ExplainedRows::kWaiting);
  return allocation;
}

}  // namespace tidepool::policies::cluster
