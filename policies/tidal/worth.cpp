#include "policies/tidal/worth.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tidepool::policies::tidal {
namespace {

using cluster::JobRow;
using cluster::packed;
using cluster::Shape;
using cluster::size_of;

constexpr double kLeastLeft = 1;   // seconds
constexpr double kPinned = 1'000;  // what a user insists on goes before what a policy weighs

double alone(const JobRow& job) {
  const double goodput = job.speed->goodput({.nodes = 1, .size = 1});
  if (goodput > 0) return goodput;
  // A job that does not run on one slot is measured by its smallest size.
  return job.speed->goodput({.nodes = 1, .size = job.size_min}) / job.size_min;
}

// Half as many again and a third as many again in turn: few sizes, none far from the next.
void add_nodes(std::vector<int>& sizes, int slots_per_node, int most) {
  for (int nodes = 2; nodes <= most / slots_per_node; nodes *= 2) {
    sizes.push_back(nodes * slots_per_node);
    if (nodes + nodes / 2 <= most / slots_per_node) sizes.push_back((nodes + nodes / 2) * slots_per_node);
  }
}

Duration transition_to(const JobRow& job, int held, int size) {
  const Duration told = held == 0      ? job.costs.start
                        : size > held  ? job.costs.grow
                        : size == held ? job.costs.move
                                       : job.costs.shrink;
  return told > Duration() ? told : job.transition;
}

}  // namespace

Ground ground_of(const cluster::View& view) {
  return {.slots = view.slots(), .slots_per_node = std::max(1, view.slots_per_node()), .now = view.now};
}

double seconds_left(const JobRow& job, const Settings& settings) {
  const std::optional<double>& left = job.useful_left ? job.useful_left : job.useful_expected;
  if (const double pace = alone(job); left && pace > 0) return std::max(kLeastLeft, *left / pace);
  // Unknown: as much again as it was served, in few wide classes, so that equals do not take turns.
  const double times = std::log(std::max(1.0, job.slot_seconds / settings.served_first));
  return settings.served_first * std::pow(settings.served_factor, std::floor(times / std::log(settings.served_factor)));
}

Duration an_eighth(const Settings& settings) {
  return Duration::micros(std::max<std::int64_t>(1, static_cast<std::int64_t>(settings.patience_s * 1e6 / 8)));
}

std::int64_t eighths_waited(const JobRow& job, Instant now, const Settings& settings) {
  const Duration waited = now - job.submitted - job.held;
  return std::max<std::int64_t>(0, waited.count_us() / an_eighth(settings).count_us());
}

std::vector<int> sizes_weighed(const JobRow& job, const Ground& ground, const Settings& settings) {
  const int grown = std::max(ground.slots_per_node, settings.growth * job.largest_seen);
  const int most = std::min({job.size_max, std::max(grown, job.size_min), ground.slots});
  std::vector<int> sizes = job.sizes;
  if (sizes.empty()) {
    for (int size = 1; size < ground.slots_per_node; size *= 2) sizes.push_back(size);
    sizes.push_back(ground.slots_per_node);
    add_nodes(sizes, ground.slots_per_node, most);
    sizes.push_back(job.size_min);
  }
  std::erase_if(sizes, [&](int size) { return size > most || !may_have(job, size); });
  if (const int held = size_of(job.placement); held > 0 && held <= job.size_max) sizes.push_back(held);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

Worth::Worth(const JobRow& job, const Ground& ground, double behind, const Settings& settings)
    : job_(&job),
      settings_(&settings),
      ground_(ground),
      held_(size_of(job.placement)),
      alone_(alone(job)),
      left_s_(seconds_left(job, settings)) {
  const double price = settings.pressure * behind / std::max(1, ground.slots);
  double cheapest = 0;
  for (const int size : sizes_weighed(job, ground, settings)) {
    const double speed = speed_up(packed(size, ground.slots_per_node));
    const double cost = (1 + price * size) / speed;
    if (speed > 0 && (cheapest == 0 || cost < cheapest)) cheapest = cost;
  }
  const double first = job.pinned > 0 ? kPinned : 1;
  weight_ = first * job.weight * cheapest * (1 + static_cast<double>(eighths_waited(job, ground.now, settings)) / 8);
}

double Worth::speed_up(Shape shape) const {
  return alone_ > 0 ? job_->speed->goodput(shape) / alone_ : 0;
}

// What is left of the time before the horizon, or before the job ends, when it stands still for the change.
double Worth::share_that_stays(int size, double speed_up) const {
  const double still = transition_to(*job_, held_, size).to_seconds();
  const double horizon = std::min(settings_->horizon_s, still + left_s_ / speed_up);
  return horizon > 0 ? std::max(0.0, 1 - still / horizon) : 1;
}

double Worth::in(Shape shape, bool stays) const {
  const double speed = speed_up(shape);
  if (!(speed > 0) || !std::isfinite(speed)) return 0;
  return weight_ * speed * (stays ? 1 : share_that_stays(shape.size, speed));
}

// On as few nodes as possible; for the size that it holds either that or where it is, whichever is worth more.
Choice Worth::choice(int size) const {
  const double moved = in(packed(size, ground_.slots_per_node), false);
  if (size != held_) return {.size = size, .worth = moved};
  const Shape here{.nodes = static_cast<int>(job_->placement.size()), .size = size};
  return {.size = size, .worth = std::max(moved, in(here, true))};
}

Curve Worth::curve() const {
  if (job_->frozen) return {choice(held_)};
  std::vector<int> sizes = sizes_weighed(*job_, ground_, *settings_);
  if (job_->pinned > 0) std::erase_if(sizes, [&](int size) { return size != job_->pinned && size != held_; });
  const bool keeps = held_ > 0 && !job_->preemptible;
  Curve curve;
  if (!keeps) curve.push_back({});
  for (const int size : sizes) {
    const Choice made = choice(size);
    // The least that a job keeps counts even where nothing is known of it.
    if (made.worth > 0 || (keeps && curve.empty())) curve.push_back(made);
  }
  if (curve.empty()) curve.push_back(choice(held_));
  return curve;
}

}  // namespace tidepool::policies::tidal
