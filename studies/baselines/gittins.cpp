#include "studies/baselines/gittins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "policies/cluster/queue_grants.hpp"
#include "policies/cluster/tiresias.hpp"

namespace tidepool::policies::cluster {
namespace {

constexpr double kSlotHour = 3'600;  // slot-seconds

}  // namespace

EndedServices::EndedServices(std::vector<double> services) : services_(std::move(services)), sums_(1, 0) {
  std::sort(services_.begin(), services_.end());
  for (const double service : services_) sums_.push_back(sums_.back() + service);
}

double EndedServices::index(double attained, double quantum) const {
  const auto place = [&](double service) {
    return static_cast<std::size_t>(std::upper_bound(services_.begin(), services_.end(), service) - services_.begin());
  };
  const std::size_t first = place(attained);            // of those that took more
  const std::size_t later = place(attained + quantum);  // of those that will not have ended within the quantum
  if (first == services_.size()) return 0;
  const auto finishing = static_cast<double>(later - first);
  const double within = sums_[later] - sums_[first] - finishing * attained;
  const double beyond = later < services_.size() ? static_cast<double>(services_.size() - later) * quantum : 0;
  return finishing / (within + beyond);
}

Allocation Gittins::allocate(const View& view, core::StepBudget& budget) const {
  budget.spend(static_cast<std::int64_t>(view.jobs.size() + view.ended_slot_seconds.size()));
  TwoQueues queues = two_queues(view);
  const EndedServices services({view.ended_slot_seconds.begin(), view.ended_slot_seconds.end()});
  std::vector<double> index(view.jobs.size(), 0);
  for (std::size_t row = 0; row < view.jobs.size() && services.count() >= kEndedMin; ++row) {
    const double attained = std::floor(view.jobs[row].slot_seconds / kStep) * kStep;
    const double quantum =
        queues.marks[row].level == 0 ? Tiresias::kQueueThreshold : std::numeric_limits<double>::infinity();
    index[row] = services.index(attained, quantum);
  }
  std::vector<std::tuple<int, double, std::size_t, std::size_t>> ranked;  // the third: its place by tiresias.hpp
  for (std::size_t place = 0; place < queues.order.size(); ++place) {
    const std::size_t row = queues.order[place];
    ranked.emplace_back(queues.marks[row].level, -index[row], place, row);
  }
  std::sort(ranked.begin(), ranked.end());
  for (std::size_t place = 0; place < ranked.size(); ++place) queues.order[place] = std::get<3>(ranked[place]);
  Line line = line_of_queues(queues.marks);
  if (services.count() >= kEndedMin) {
    line = {.measure = core::measure::kIndex, .own = {}};
    for (const double value : index) line.own.push_back(value * kSlotHour);
  }
  Allocation allocation = grant_in_order(view, std::move(queues.order), Overtaking::kAllowed, line);
  for (std::size_t row = 0; row < view.jobs.size(); ++row) allocation.grants[row].mark = queues.marks[row];
  return allocation;
}

}  // namespace tidepool::policies::cluster
