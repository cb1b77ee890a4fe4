#include "policies/cluster/ffdl.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "policies/cluster/best_sizes.hpp"
#include "policies/cluster/size_grants.hpp"

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
  const auto sizes = best_sizes(worth, slots, budget);
  for (std::size_t i = 0; i < served.size(); ++i) {
    const int size = sizes ? (*sizes)[i] : view.jobs[served[i]].size_min;
    const auto held = static_cast<std::size_t>(size_of(view.jobs[served[i]].placement));
    const double before = held < worth[i].size() && std::isfinite(worth[i][held]) ? worth[i][held] : 0;
    chosen[served[i]] = {.size = size, .gain = worth[i][static_cast<std::size_t>(size)] - before};
  }
  return grant_sizes(view, chosen);
}

}  // namespace tidepool::policies::cluster
