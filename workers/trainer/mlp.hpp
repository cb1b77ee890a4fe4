// Classification of samples of numbers with one hidden layer.
#pragma once

#include "workers/trainer/dense_net.hpp"
#include "workers/trainer/model.hpp"

namespace tidepool::trainer {

class Mlp final : public Model {
 public:
  // `seed` determines the initial parameters.
  Mlp(const DenseShape& shape, std::uint64_t seed);

  [[nodiscard]] std::span<float> parameters() override { return parameters_; }
  [[nodiscard]] double add_gradient(const BatchView& batch, std::span<float> gradient) override;

 private:
  DenseShape shape_;
  std::vector<float> parameters_;
};

}  // namespace tidepool::trainer
