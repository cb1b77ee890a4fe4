// What the trainer trains: a model whose parameters are in one flat buffer. Gradients and losses are sums over samples,
// so that shares of different sizes add up correctly.
#pragma once

#include <span>

#include "workers/trainer/data_set.hpp"

namespace tidepool::trainer {

class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  [[nodiscard]] virtual std::span<float> parameters() = 0;

  // Adds the gradient of the summed loss over `batch` to `gradient` (as long as parameters()) and returns that loss in
  // nats. Memory use grows with the batch: split long batches into parts.
  [[nodiscard]] virtual double add_gradient(const BatchView& batch, std::span<float> gradient) = 0;
};

}  // namespace tidepool::trainer
