#include "studies/replay/pollux/adaptive_training.hpp"

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
  row.useful_expected = expected();
}

std::optional<double> AdaptiveTraining::expected() const {
  if (rules_.prior) return kind_.work.left(progress());
  // It has measured no step of its own yet.
  if (rules_.kin == nullptr || !goodput_.has_noise()) return std::nullopt;
  const double samples = limits().initial;
  const auto left = rules_.kin->left(policies::SimilarJobWork::class_of(pace_s()), progress() * samples);
  return left ? std::optional(*left / samples) : std::nullopt;
}

// Seconds a sample at the initial batch on one slot, as far as measured.
double AdaptiveTraining::pace_s() const {
  const policies::BatchLimits limits = this->limits();
  return kind_.speed.step_seconds({}, policies::split_batch(limits.initial, 1, limits)) / limits.initial;
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
  if (rules_.kin == nullptr || progress() <= 0) return;
  rules_.kin->reached(rules_.number, policies::SimilarJobWork::class_of(pace_s()), progress() * limits().initial);
}

void AdaptiveTraining::ended(double useful_steps) {
  kind_.work.ended(useful_steps);
  if (rules_.kin == nullptr) return;
  rules_.kin->ended(policies::SimilarJobWork::class_of(pace_s()), useful_steps * limits().initial);
}

}  // namespace tidepool::sim
