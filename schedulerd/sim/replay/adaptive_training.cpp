#include "schedulerd/sim/replay/adaptive_training.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tidepool::sim {

using policies::cluster::Shape;

policies::GradientNoise LearntGoodput::noise() const {
  if (noise_) return *noise_;
  if (prior_ && kind_.first_noise) return *kind_.first_noise;
  // As much noise as signal is a cautious guess.
  return {.sqr = 1, .var = 1};
}

std::optional<policies::BatchChoice> LearntGoodput::best(Shape shape) const {
  if (kind_.speed.empty()) return std::nullopt;
  const policies::GradientNoise noise = this->noise();
  if (kept_version_ != kind_.speed.version() || kept_noise_ != noise) {
    kept_.clear();
    kept_version_ = kind_.speed.version();
    kept_noise_ = noise;
  }
  const auto [kept, is_new] = kept_.try_emplace({shape.nodes, shape.size});
  if (is_new) kept->second = best_batch(kind_.speed, noise, limits_, shape);
  return kept->second;
}

double LearntGoodput::step_seconds(Shape shape) const {
  const auto choice = best(shape);
  return choice ? kind_.speed.step_seconds(shape, choice->split) : std::numeric_limits<double>::infinity();
}

double LearntGoodput::goodput(Shape shape) const {
  if (kind_.speed.empty()) return shape.size;
  const auto choice = best(shape);
  return choice ? choice->goodput : 0;
}

AdaptiveTraining::AdaptiveTraining(const Setup& setup, KindKnowledge& kind, const Rules& rules)
    : EpochTraining(setup), kind_(kind), goodput_(kind, limits(), rules.prior), rules_(rules) {}

void AdaptiveTraining::describe(policies::cluster::JobRow& row) const {
  EpochTraining::describe(row);
  row.speed = &goodput_;
  row.largest_seen = kind_.speed.largest_size();
  row.useful_expected = rules_.prior ? kind_.work.left(progress()) : std::nullopt;
}

policies::BatchSplit AdaptiveTraining::choose_batch(Shape shape) const {
  if (rules_.fixed_batch > 0) return policies::split_batch(rules_.fixed_batch, shape.size, limits());
  if (const auto choice = goodput_.best(shape)) return choice->split;
  const policies::BatchLimits limits = this->limits();
  return policies::split_batch(std::max(limits.initial, limits.local_min * shape.size), shape.size, limits);
}

void AdaptiveTraining::observe(const Pace& pace, const GradientStatistics& noise) {
  const policies::GradientNoise seen{.sqr = noise.sqr, .var = noise.var};
  if (!goodput_.has_noise()) kind_.first_noise = seen;
  goodput_.set_noise(seen);
  kind_.work.reached(progress());
  kind_.speed.add({.shape = pace.shape, .local_batch = pace.split.local, .time = pace.measured});
}

}  // namespace tidepool::sim
