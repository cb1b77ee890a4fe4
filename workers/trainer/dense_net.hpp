// The part that both models share: inputs -> hidden layer with tanh -> classes with softmax, and the cross-entropy of
// the right class. Plain functions over caller-owned memory.
//
// Shapes, all column-major, one column per sample: inputs in x n, hidden h x n, scores c x n.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.hpp"

namespace tidepool::trainer {

struct DenseShape {
  int inputs = 1;
  int hidden = 1;
  int classes = 2;

  // Order in the flat buffer: W1 (h x in), b1 (h), W2 (c x h), b2 (c).
  [[nodiscard]] std::size_t parameters() const;
};

// Weights uniform in +-sqrt(6 / (fan in + fan out)), biases zero (Glorot and Bengio, AISTATS 2010, eq. 16).
void initialise_dense(const DenseShape& shape, Rng& rng, std::span<float> parameters);

struct DenseBatch {
  std::span<const float> inputs;      // in x n
  std::span<const int> classes;       // n, each below shape.classes
  std::span<float> input_gradient{};  // in x n, or empty if not needed; overwritten
};

// Adds to `gradient` (same layout as the parameters); returns the summed loss.
[[nodiscard]] double add_dense_gradient(const DenseShape& shape, std::span<const float> parameters,
                                        const DenseBatch& batch, std::span<float> gradient);

}  // namespace tidepool::trainer
