#include "workers/trainer/charlm.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace tidepool::trainer {

CharLm::CharLm(const CharLmOptions& options)
    : options_(options),
      shape_{.inputs = options.context * options.embedding, .hidden = options.hidden, .classes = options.vocabulary} {
  parameters_.resize(embedding_floats() + shape_.parameters());
  Rng rng(options.seed);
  for (float& value : std::span(parameters_).first(embedding_floats())) {
    value = static_cast<float>(0.3 * rng.normal());
  }
  initialise_dense(shape_, rng, std::span(parameters_).subspan(embedding_floats()));
}

std::size_t CharLm::embedding_floats() const {
  return static_cast<std::size_t>(options_.vocabulary) * static_cast<std::size_t>(options_.embedding);
}

double CharLm::add_gradient(const BatchView& batch, std::span<float> gradient) {
  TP_CHECK(gradient.size() == parameters_.size(), "a gradient is as long as the parameters");
  TP_CHECK(batch.tokens.size() == batch.samples() * static_cast<std::size_t>(options_.context),
           "a sample shows as many tokens as the context is long");
  const auto width = static_cast<std::size_t>(options_.embedding);
  std::vector<float> inputs(batch.tokens.size() * width);
  std::vector<float> input_gradient(inputs.size());
  const auto row_of = [&](std::size_t i) { return static_cast<std::size_t>(batch.tokens[i]) * width; };
  for (std::size_t i = 0; i < batch.tokens.size(); ++i) {
    std::copy_n(parameters_.data() + row_of(i), width, inputs.data() + i * width);
  }
  const std::span<const float> dense = std::span<const float>(parameters_).subspan(embedding_floats());
  const double loss =
      add_dense_gradient(shape_, dense, {.inputs = inputs, .classes = batch.classes, .input_gradient = input_gradient},
                         gradient.subspan(embedding_floats()));
  for (std::size_t i = 0; i < batch.tokens.size(); ++i) {
    float* row = gradient.data() + row_of(i);
    const float* part = input_gradient.data() + i * width;
    for (std::size_t j = 0; j < width; ++j) row[j] += part[j];
  }
  return loss;
}

}  // namespace tidepool::trainer
