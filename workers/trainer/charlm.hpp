// A language model over tokens (bytes, if the data is text): the embeddings of the last `context` tokens,
// one hidden layer, softmax over the vocabulary (Bengio et al.: "A Neural Probabilistic Language Model",
// JMLR 3, 2003, section 2).
#pragma once

#include <cstdint>
#include <vector>

#include "workers/trainer/dense_net.hpp"
#include "workers/trainer/model.hpp"

namespace tidepool::trainer {

struct CharLmOptions {
  int context = 16;    // tokens that the model sees
  int vocabulary = 2;  // different tokens
  int embedding = 16;  // numbers per token
  int hidden = 256;
  std::uint64_t seed = 1;  // of the initial parameters
};

class CharLm final : public Model {
 public:
  explicit CharLm(const CharLmOptions& options);

  [[nodiscard]] std::span<float> parameters() override { return parameters_; }
  // The batch has `context` tokens per sample, all below `vocabulary`.
  [[nodiscard]] double add_gradient(const BatchView& batch, std::span<float> gradient) override;

 private:
  [[nodiscard]] std::size_t embedding_floats() const;

  CharLmOptions options_;
  DenseShape shape_;
  std::vector<float> parameters_;  // the embedding table, then the dense net
};

}  // namespace tidepool::trainer
