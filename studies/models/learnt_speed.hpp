// What has been learnt about the speed of one kind of job: every measured step, the model fitted to them, and per shape
// how far the model is off where it was measured. The table of measurements thus wins where there is one, the model
// fills the rest. A plain value; refits only when a measurement brings a new shape or surprises.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "studies/models/batch_split.hpp"
#include "studies/models/step_time_fit.hpp"

namespace tidepool::policies {

// Squared length and variance of the gradient at the initial batch size, as the workers measure it.
struct GradientNoise {
  double sqr = 0;
  double var = 0;
  bool operator==(const GradientNoise&) const = default;
};

// Useful steps that one real step at this global batch brings (Qiao et al., OSDI 2021, section 3.1).
[[nodiscard]] double gain_of_batch(const GradientNoise& noise, double batch, double initial);

class LearntSpeed {
 public:
  // A configuration that was measured before changes nothing.
  void add(const StepMeasurement& measured);

  [[nodiscard]] bool empty() const { return measurements_.empty(); }
  [[nodiscard]] int largest_size() const { return largest_size_; }
  [[nodiscard]] std::uint64_t version() const { return version_; }  // changes with what it predicts
  // Mean error of the fit over all measurements, as the mean |log(predicted / measured)| of whole steps.
  [[nodiscard]] double fit_error() const;

  // Requires: !empty().
  [[nodiscard]] double step_seconds(cluster::Shape shape, const BatchSplit& split) const;

 private:
  using ShapeKey = std::pair<int, int>;  // nodes, size
  void refit();

  std::vector<StepMeasurement> measurements_;
  std::map<std::tuple<int, int, int>, std::size_t> known_;  // nodes, size, local batch
  std::optional<StepTimeModel> model_;
  std::map<ShapeKey, double> correction_;  // measured / predicted, the geometric mean at that shape
  int largest_size_ = 0;
  std::uint64_t version_ = 0;
};

struct BatchChoice {
  BatchSplit split;
  double goodput = 0;  // useful steps a second
};
// The one of batch_choices() with the best goodput for a shape; nothing if there are none. Requires: !speed.empty().
[[nodiscard]] std::optional<BatchChoice> best_batch(const LearntSpeed& speed, const GradientNoise& noise,
                                                    const BatchLimits& limits, cluster::Shape shape);

}  // namespace tidepool::policies
