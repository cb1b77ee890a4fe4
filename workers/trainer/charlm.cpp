#include "workers/trainer/charlm.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace tidepool::trainer {

Result<std::unique_ptr<CharLm>> CharLm::create(const CharLmOptions& options, std::string text) {
  if (text.size() <= static_cast<std::size_t>(options.context)) {
    return invalid_argument("the text has " + std::to_string(text.size()) +
                            " bytes; it needs more than the context of " + std::to_string(options.context) +
                            ": add files to data or lower context");
  }
  std::array<bool, 256> seen{};
  for (const char c : text) seen[static_cast<unsigned char>(c)] = true;
  const auto vocabulary = static_cast<int>(std::count(seen.begin(), seen.end(), true));
  if (vocabulary < 2) return invalid_argument("the text repeats one byte only: there is nothing to learn from it");
  return std::unique_ptr<CharLm>(new CharLm(options, std::move(text), vocabulary));
}

CharLm::CharLm(const CharLmOptions& options, std::string text, int vocabulary)
    : options_(options),
      text_(std::move(text)),
      shape_{.inputs = options.context * options.embedding, .hidden = options.hidden, .classes = vocabulary} {
  std::array<bool, 256> seen{};
  for (const char c : text_) seen[static_cast<unsigned char>(c)] = true;
  int next = 0;
  for (std::size_t byte = 0; byte < 256; ++byte) token_of_[byte] = seen[byte] ? next++ : -1;
  parameters_.resize(embedding_floats() + shape_.parameters());
  Rng rng(options.seed);
  for (float& value : std::span(parameters_).first(embedding_floats())) {
    value = static_cast<float>(0.3 * rng.normal());
  }
  initialise_dense(shape_, rng, std::span(parameters_).subspan(embedding_floats()));
}

std::size_t CharLm::embedding_floats() const {
  return static_cast<std::size_t>(shape_.classes) * static_cast<std::size_t>(options_.embedding);
}

std::uint64_t CharLm::samples() const {
  return text_.size() - static_cast<std::size_t>(options_.context);
}

double CharLm::add_gradient(std::span<const std::uint64_t> batch, std::span<float> gradient) {
  TP_CHECK(gradient.size() == parameters_.size(), "a gradient is as long as the parameters");
  const auto context = static_cast<std::size_t>(options_.context);
  const auto width = static_cast<std::size_t>(options_.embedding);
  const std::size_t column = context * width;
  std::vector<float> inputs(column * batch.size());
  std::vector<float> input_gradient(inputs.size());
  std::vector<int> classes(batch.size());
  const auto row_of = [&](std::size_t position) { return static_cast<std::size_t>(token(position)) * width; };
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (std::size_t k = 0; k < context; ++k) {
      std::copy_n(parameters_.data() + row_of(batch[i] + k), width, inputs.data() + i * column + k * width);
    }
    classes[i] = token(batch[i] + context);
  }
  const std::span<const float> dense = std::span<const float>(parameters_).subspan(embedding_floats());
  const double loss =
      add_dense_gradient(shape_, dense, {.inputs = inputs, .classes = classes, .input_gradient = input_gradient},
                         gradient.subspan(embedding_floats()));
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (std::size_t k = 0; k < context; ++k) {
      float* row = gradient.data() + row_of(batch[i] + k);
      const float* part = input_gradient.data() + i * column + k * width;
      for (std::size_t j = 0; j < width; ++j) row[j] += part[j];
    }
  }
  return loss;
}

}  // namespace tidepool::trainer
