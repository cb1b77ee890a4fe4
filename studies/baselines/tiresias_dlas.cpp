#include "studies/baselines/tiresias_dlas.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "policies/cluster/queue_grants.hpp"

namespace tidepool::policies::cluster {
namespace {

constexpr int kLast = static_cast<int>(TiresiasDlas::kThresholds.size());

struct Place {
  int queue = 0;
  bool fell = false;  // came into its queue just now
  double was = 0;     // its place at the last look
};

Place place_of(const JobRow& job) {
  Place place{.queue = std::clamp(job.mark.level, 0, kLast),
              .was = job.mark.numbers.empty() ? std::numeric_limits<double>::infinity() : job.mark.numbers[0]};
  if (job.placement.empty() || place.queue == kLast) return place;
  if (std::floor(job.slot_seconds) >= TiresiasDlas::kThresholds[static_cast<std::size_t>(place.queue)]) {
    ++place.queue;
    place.fell = true;
  }
  return place;
}

// By queue; those that fell come after those that were there, the larger ones first; newcomers last, the older first.
std::vector<std::size_t> queue_of(const View& view, const std::vector<Place>& places) {
  std::vector<std::tuple<int, bool, double, std::size_t>> ranked;
  for (std::size_t row = 0; row < places.size(); ++row) {
    const Place& place = places[row];
    const double key = place.fell ? -view.jobs[row].size_wanted : place.was;
    ranked.emplace_back(place.queue, place.fell, key, row);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::size_t> queue;
  queue.reserve(ranked.size());
  for (const auto& entry : ranked) queue.push_back(std::get<3>(entry));
  return queue;
}

}  // namespace

Allocation TiresiasDlas::allocate(const View& view, core::StepBudget& budget) const {
  budget.spend(static_cast<std::int64_t>(view.jobs.size()));
  std::vector<Place> places;
  places.reserve(view.jobs.size());
  for (const JobRow& job : view.jobs) places.push_back(place_of(job));
  Line line{.measure = core::measure::kQueue};
  for (const Place& place : places) line.own.push_back(place.queue + 1);
  Allocation allocation = grant_in_order(view, queue_of(view, places), Overtaking::kAllowed, line);
  std::vector<std::tuple<int, bool, std::size_t, std::size_t>> next;  // queue, waits, place now, row
  for (std::size_t at = 0; at < allocation.order.size(); ++at) {
    const std::size_t row = allocation.order[at];
    next.emplace_back(places[row].queue, allocation.grants[row].size == 0, at, row);
  }
  std::sort(next.begin(), next.end());
  double falls_s = std::numeric_limits<double>::infinity();
  for (std::size_t at = 0; at < next.size(); ++at) {
    const auto& [queue, waits, now, row] = next[at];
    allocation.grants[row].mark = {.level = queue, .since = view.now, .numbers = {double(at)}};
    if (waits || queue == kLast) continue;
    const JobRow& job = view.jobs[row];
    const double run_s = job.slot_seconds / job.size_wanted;
    falls_s = std::min(
        falls_s, std::ceil((TiresiasDlas::kThresholds[static_cast<std::size_t>(queue)] - run_s) / job.size_wanted));
  }
  if (std::isfinite(falls_s)) allocation.wake = view.now + Duration::from_seconds(falls_s);
  return allocation;
}

}  // namespace tidepool::policies::cluster
