#include "policies/cluster/gittins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "policies/cluster/queue_grants.hpp"
#include "policies/cluster/tiresias.hpp"

namespace tidepool::policies::cluster {

double gittins_index(const std::vector<double>& services, double attained, double quantum) {
  double finishing = 0;
  double spent = 0;
  for (auto service = std::upper_bound(services.begin(), services.end(), attained); service != services.end();
       ++service) {
    const double left = *service - attained;
    finishing += left <= quantum ? 1 : 0;
    spent += std::min(left, quantum);
  }
  return spent > 0 ? finishing / spent : 0;
}

Allocation Gittins::allocate(const View& view, core::StepBudget& budget) const {
  TwoQueues queues = two_queues(view);
  std::vector<double> services = view.ended_slot_seconds;
  std::sort(services.begin(), services.end());
  std::vector<double> index(view.jobs.size(), 0);
  for (std::size_t row = 0; row < view.jobs.size() && services.size() >= kEndedMin; ++row) {
    const double attained = std::floor(view.jobs[row].slot_seconds / kStep) * kStep;
    const double quantum =
        queues.marks[row].level == 0 ? Tiresias::kQueueThreshold : std::numeric_limits<double>::infinity();
    index[row] = gittins_index(services, attained, quantum);
    budget.spend(static_cast<std::int64_t>(services.size()));
  }
  std::vector<std::tuple<int, double, std::size_t, std::size_t>> ranked;  // the third: its place by tiresias.hpp
  for (std::size_t place = 0; place < queues.order.size(); ++place) {
    const std::size_t row = queues.order[place];
    ranked.emplace_back(queues.marks[row].level, -index[row], place, row);
  }
  std::sort(ranked.begin(), ranked.end());
  for (std::size_t place = 0; place < ranked.size(); ++place) queues.order[place] = std::get<3>(ranked[place]);
  Allocation allocation = grant_in_order(view, std::move(queues.order), Overtaking::kAllowed);
  for (std::size_t row = 0; row < view.jobs.size(); ++row) allocation.grants[row].mark = queues.marks[row];
  return allocation;
}

}  // namespace tidepool::policies::cluster
