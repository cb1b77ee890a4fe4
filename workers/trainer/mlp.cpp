#include "workers/trainer/mlp.hpp"

namespace tidepool::trainer {

Mlp::Mlp(const DenseShape& shape, std::uint64_t seed) : shape_(shape), parameters_(shape.parameters()) {
  Rng rng(seed);
  initialise_dense(shape_, rng, parameters_);
}

double Mlp::add_gradient(const BatchView& batch, std::span<float> gradient) {
  return add_dense_gradient(shape_, parameters_, {.inputs = batch.numbers, .classes = batch.classes}, gradient);
}

}  // namespace tidepool::trainer
