// Text as tokens: every byte value in the text is a token, numbered in the order of the byte values. Sample k is the
// byte at k + context, given the `context` bytes before it.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "workers/trainer/data_set.hpp"

namespace tidepool::trainer {

class TextData final : public DataSet {
 public:
  // A text no longer than the context, or with fewer than two different bytes, is an error.
  [[nodiscard]] static Result<std::unique_ptr<DataSet>> create(std::string text, int context);

  [[nodiscard]] std::uint64_t samples() const override { return text_.size() - static_cast<std::size_t>(context_); }
  [[nodiscard]] int inputs() const override { return context_; }
  [[nodiscard]] int classes() const override { return vocabulary_; }
  [[nodiscard]] Status fill(std::span<const std::uint64_t> samples, Batch& batch) const override;

 private:
  TextData(std::string text, int context);

  [[nodiscard]] int token(std::size_t position) const { return token_of_[static_cast<unsigned char>(text_[position])]; }

  std::string text_;
  int context_;
  int vocabulary_ = 0;
  std::array<int, 256> token_of_{};
};

}  // namespace tidepool::trainer
