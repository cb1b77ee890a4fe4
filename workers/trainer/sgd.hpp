// Stochastic gradient descent with momentum (Polyak 1964). The velocity is a movement of the parameters,
//
//   u <- momentum * momentum_factor * u + lr * lr_factor * g      g = gradient_sum / samples
//   p <- p - u
//
// so that a changed learning rate does not change the scale of the old velocity; numerics/step_schedule.hpp
// explains the two factors. With both at 1 it is the usual form with the rate inside the velocity.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tidepool::trainer {

struct SgdStep {
  std::uint64_t samples = 1;  // number of samples in the summed gradient, over all workers
  double lr_factor = 1;
  double momentum_factor = 1;
};

class Sgd {
 public:
  Sgd(double lr, double momentum, std::size_t count) : lr_(lr), momentum_(momentum), velocity_(count) {}

  // `gradient_sum` and `parameters` have `count` floats.
  void apply(std::span<const float> gradient_sum, const SgdStep& step, std::span<float> parameters);

  // The velocity; part of a complete replica.
  [[nodiscard]] std::span<float> state() { return velocity_; }

 private:
  double lr_;
  double momentum_;
  std::vector<float> velocity_;
};

}  // namespace tidepool::trainer
