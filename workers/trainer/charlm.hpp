// A language model over bytes: the embeddings of the last `context` bytes, one hidden layer, softmax
// over the bytes that the text contains (Bengio et al.: "A Neural Probabilistic Language Model", JMLR 3,
// 2003, section 2, over bytes instead of words).
#pragma once

#include <array>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "workers/trainer/dense_net.hpp"
#include "workers/trainer/model.hpp"

namespace tidepool::trainer {

struct CharLmOptions {
  int context = 16;    // bytes that the model sees
  int embedding = 16;  // numbers a byte
  int hidden = 256;
  std::uint64_t seed = 1;  // of the initial parameters
};

class CharLm final : public Model {
 public:
  // Sample k is the byte at k + context, given the `context` bytes before it. A text no longer than the
  // context, or with fewer than two different bytes, is an error.
  [[nodiscard]] static Result<std::unique_ptr<CharLm>> create(const CharLmOptions& options, std::string text);

  [[nodiscard]] std::uint64_t samples() const override;
  [[nodiscard]] std::span<float> parameters() override { return parameters_; }
  [[nodiscard]] double add_gradient(std::span<const std::uint64_t> batch, std::span<float> gradient) override;
  [[nodiscard]] int vocabulary() const { return shape_.classes; }

 private:
  CharLm(const CharLmOptions& options, std::string text, int vocabulary);

  [[nodiscard]] int token(std::size_t position) const { return token_of_[static_cast<unsigned char>(text_[position])]; }
  [[nodiscard]] std::size_t embedding_floats() const;

  CharLmOptions options_;
  std::string text_;
  std::array<int, 256> token_of_{};
  DenseShape shape_;
  std::vector<float> parameters_;  // the embedding table, then the dense net
};

}  // namespace tidepool::trainer
