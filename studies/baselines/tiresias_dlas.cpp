#include "studies/baselines/tiresias_dlas.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
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

// By queue; those that fell come after those that were there, the larger ones first; new jobs last, the older first.
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

using Ranked = std::vector<std::tuple<int, bool, std::size_t, std::size_t>>;  // queue, waits, place now, row

// Positions of a longest subsequence that rises; values that are not finite have no part in it.
std::vector<std::size_t> longest_rise(const std::vector<double>& values) {
  std::vector<std::size_t> ends;  // by length: where the rise with the smallest last value ends
  std::vector<std::size_t> before(values.size());
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (!std::isfinite(values[at])) continue;
    const auto length = std::lower_bound(ends.begin(), ends.end(), values[at],
                                         [&](std::size_t end, double value) { return values[end] < value; });
    before[at] = length == ends.begin() ? at : *(length - 1);
    if (length == ends.end()) {
      ends.push_back(at);
    } else {
      *length = at;
    }
  }
  std::vector<std::size_t> rise(ends.size());
  for (std::size_t left = ends.size(), at = ends.empty() ? 0 : ends.back(); left-- > 0; at = before[at])
    rise[left] = at;
  return rise;
}

// Rising places of a queue's jobs, as many as they were as possible: a new place is a new mark, and a daemon writes
// down each. Those between two that stay are spread evenly; where no number fits between, all are numbered anew.
std::vector<double> places_like(const std::vector<double>& were) {
  std::vector<double> places = were;
  const std::vector<std::size_t> kept = longest_rise(were);
  for (std::size_t k = 0; k <= kept.size(); ++k) {
    const std::size_t from = k == 0 ? 0 : kept[k - 1] + 1;
    const std::size_t to = k == kept.size() ? were.size() : kept[k];
    const double count = double(to - from);
    const double low = k == 0 ? (k == kept.size() ? -1 : were[to] - count - 1) : were[from - 1];
    const double high = k == kept.size() ? low + count + 1 : were[to];
    for (std::size_t at = from; at < to; ++at) places[at] = low + (high - low) * double(at - from + 1) / (count + 1);
  }
  if (std::adjacent_find(places.begin(), places.end(), std::greater_equal<>()) == places.end()) return places;
  for (std::size_t at = 0; at < places.size(); ++at) places[at] = double(at);
  return places;
}

// Notes on each job its queue and its place in it. A job that runs is noted anew each time: with a note a daemon brings
// its attained service up to date.
void mark_places(const View& view, const std::vector<Place>& places, const Ranked& line, Allocation& allocation) {
  const auto queue_at = [&](std::size_t at) { return std::get<0>(line[at]); };
  for (std::size_t first = 0, last = 0; first < line.size(); first = last) {
    std::vector<double> were;
    for (; last < line.size() && queue_at(last) == queue_at(first); ++last) {
      const Place& place = places[std::get<3>(line[last])];
      were.push_back(place.fell ? std::numeric_limits<double>::infinity() : place.was);
    }
    const std::vector<double> now = places_like(were);
    for (std::size_t at = first; at < last; ++at) {
      const std::size_t row = std::get<3>(line[at]);
      Mark& mark = allocation.grants[row].mark;
      const bool waits = std::get<1>(line[at]);
      const bool stays = waits && mark.level == queue_at(at) && were[at - first] == now[at - first];
      if (!stays) mark = {.level = queue_at(at), .since = view.now, .numbers = {now[at - first]}};
    }
  }
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
  Ranked next;
  for (std::size_t at = 0; at < allocation.order.size(); ++at) {
    const std::size_t row = allocation.order[at];
    next.emplace_back(places[row].queue, allocation.grants[row].size == 0, at, row);
  }
  std::sort(next.begin(), next.end());
  mark_places(view, places, next, allocation);
  double falls_s = std::numeric_limits<double>::infinity();
  for (const auto& [queue, waits, now, row] : next) {
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
