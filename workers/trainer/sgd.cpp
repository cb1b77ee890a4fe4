#include "workers/trainer/sgd.hpp"

#include "base/check.hpp"

namespace tidepool::trainer {

void Sgd::apply(std::span<const float> gradient_sum, const SgdStep& step, std::span<float> parameters) {
  TP_CHECK(gradient_sum.size() == velocity_.size() && parameters.size() == velocity_.size(),
           "gradient and parameters are as long as the velocity");
  TP_CHECK(step.samples > 0, "a step has samples");
  const auto keep = static_cast<float>(momentum_ * step.momentum_factor);
  const auto rate = static_cast<float>(lr_ * step.lr_factor / static_cast<double>(step.samples));
  for (std::size_t i = 0; i < velocity_.size(); ++i) {
    velocity_[i] = keep * velocity_[i] + rate * gradient_sum[i];
    parameters[i] -= velocity_[i];
  }
}

}  // namespace tidepool::trainer
