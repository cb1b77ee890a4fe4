#include "schedulerd/sim/replay/adaptive_training.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tidepool::sim {

using policies::cluster::Shape;

void LearntGoodput::set_noise(const policies::GradientNoise& noise) {
  if (noise_ && noise_->sqr == noise.sqr && noise_->var == noise.var) return;
  noise_ = noise;
  kept_.clear();
}

std::optional<policies::BatchChoice> LearntGoodput::best(Shape shape) const {
  if (learnt_.empty()) return std::nullopt;
  if (kept_version_ != learnt_.version()) {
    kept_.clear();
    kept_version_ = learnt_.version();
  }
  const auto [kept, is_new] = kept_.try_emplace({shape.nodes, shape.size});
  // Before the first step of this job its noise is unknown; as much noise as signal is a cautious guess.
  if (is_new) kept->second = best_batch(learnt_, noise_.value_or(policies::GradientNoise{1, 1}), limits_, shape);
  return kept->second;
}

double LearntGoodput::step_seconds(Shape shape) const {
  const auto choice = best(shape);
  return choice ? learnt_.step_seconds(shape, choice->split) : std::numeric_limits<double>::infinity();
}

double LearntGoodput::goodput(Shape shape) const {
  if (learnt_.empty()) return shape.size;
  const auto choice = best(shape);
  return choice ? choice->goodput : 0;
}

AdaptiveTraining::AdaptiveTraining(const Setup& setup, policies::LearntSpeed& learnt, int fixed_batch)
    : EpochTraining(setup), learnt_(learnt), goodput_(learnt, limits()), fixed_batch_(fixed_batch) {}

void AdaptiveTraining::describe(policies::cluster::JobRow& row) const {
  EpochTraining::describe(row);
  row.speed = &goodput_;
  row.largest_seen = learnt_.largest_size();
}

policies::BatchSplit AdaptiveTraining::choose_batch(Shape shape) const {
  if (fixed_batch_ > 0) return policies::split_batch(fixed_batch_, shape.size, limits());
  if (const auto choice = goodput_.best(shape)) return choice->split;
  const policies::BatchLimits limits = this->limits();
  return policies::split_batch(std::max(limits.initial, limits.local_min * shape.size), shape.size, limits);
}

void AdaptiveTraining::observe(const Pace& pace, const GradientStatistics& noise) {
  goodput_.set_noise({.sqr = noise.sqr, .var = noise.var});
  learnt_.add({.shape = pace.shape, .local_batch = pace.split.local, .time = pace.measured});
}

}  // namespace tidepool::sim
