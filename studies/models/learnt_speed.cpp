#include "studies/models/learnt_speed.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace tidepool::policies {
namespace {

// A prediction that is off by more than this calls for a new fit.
constexpr double kSurprise = 0.02;

}  // namespace

double gain_of_batch(const GradientNoise& noise, double batch, double initial) {
  const double rest = noise.var / (batch / initial) + noise.sqr;
  return rest > 0 ? (noise.var + noise.sqr) / rest : 1;
}

void LearntSpeed::add(const StepMeasurement& measured) {
  const auto key = std::tuple(measured.shape.nodes, measured.shape.size, measured.local_batch);
  if (!known_.emplace(key, measurements_.size()).second) return;
  const bool new_shape = !correction_.contains({measured.shape.nodes, measured.shape.size});
  const bool surprised = new_shape || std::abs(std::log(step_seconds(measured.shape, {.local = measured.local_batch}) /
                                                        measured.time.step_s)) > kSurprise;
  measurements_.push_back(measured);
  largest_size_ = std::max(largest_size_, measured.shape.size);
  if (surprised) refit();
}

void LearntSpeed::refit() {
  model_ = fit_step_time(measurements_, model_ ? &*model_ : nullptr);
  std::map<ShapeKey, std::pair<double, int>> sums;
  for (const StepMeasurement& m : measurements_) {
    auto& [sum, count] = sums[{m.shape.nodes, m.shape.size}];
    sum += std::log(m.time.step_s / model_->step_seconds(m.shape, m.local_batch));
    ++count;
  }
  for (const auto& [shape, sum] : sums) correction_[shape] = std::exp(sum.first / sum.second);
  ++version_;
}

double LearntSpeed::fit_error() const {
  return model_ ? policies::fit_error(*model_, measurements_) : 0;
}

double LearntSpeed::step_seconds(cluster::Shape shape, const BatchSplit& split) const {
  TP_CHECK(model_.has_value(), "a speed is predicted after something was measured");
  const auto found = correction_.find({shape.nodes, shape.size});
  const double correction = found == correction_.end() ? 1 : found->second;
  return model_->step_seconds(shape, split.local) * correction +
         split.accumulate * model_->compute_seconds(split.local);
}

std::optional<BatchChoice> best_batch(const LearntSpeed& speed, const GradientNoise& noise, const BatchLimits& limits,
                                      cluster::Shape shape) {
  std::optional<BatchChoice> best;
  for (const BatchSplit& split : batch_choices(shape.size, limits)) {
    const double gain = gain_of_batch(noise, split.global(shape.size), limits.initial);
    const double goodput = gain / speed.step_seconds(shape, split);
    if (!best || goodput > best->goodput) best = {.split = split, .goodput = goodput};
  }
  return best;
}

}  // namespace tidepool::policies
