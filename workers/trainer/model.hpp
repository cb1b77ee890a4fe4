// What the trainer trains: a model over numbered samples whose parameters lie in one flat buffer.
// Gradients and losses are sums over samples, so that shares of different size add up correctly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tidepool::trainer {

class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  // How many samples an epoch has; sample numbers are below it.
  [[nodiscard]] virtual std::uint64_t samples() const = 0;

  [[nodiscard]] virtual std::span<float> parameters() = 0;

  // Adds the gradient of the summed loss over `batch` to `gradient` (as long as parameters()) and
  // returns that loss in nats. Memory grows with the batch: pass long ones in parts.
  [[nodiscard]] virtual double add_gradient(std::span<const std::uint64_t> batch, std::span<float> gradient) = 0;
};

}  // namespace tidepool::trainer
