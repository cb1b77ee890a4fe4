#include "workers/trainer/text_data.hpp"

#include <utility>

namespace tidepool::trainer {

Result<std::unique_ptr<DataSet>> TextData::create(std::string text, int context) {
  if (text.size() <= static_cast<std::size_t>(context)) {
    return invalid_argument("the text has " + std::to_string(text.size()) +
                            " bytes; it needs more than the context of " + std::to_string(context) +
                            ": add files to data or lower context");
  }
  auto data = std::unique_ptr<TextData>(new TextData(std::move(text), context));
  if (data->vocabulary_ < 2) {
    return invalid_argument("the text repeats one byte only: there is nothing to learn from it");
  }
  return std::unique_ptr<DataSet>(std::move(data));
}

TextData::TextData(std::string text, int context) : text_(std::move(text)), context_(context) {
  std::array<bool, 256> seen{};
  for (const char c : text_) seen[static_cast<unsigned char>(c)] = true;
  for (std::size_t byte = 0; byte < 256; ++byte) token_of_[byte] = seen[byte] ? vocabulary_++ : -1;
}

Status TextData::fill(std::span<const std::uint64_t> samples, Batch& batch) const {
  const auto context = static_cast<std::size_t>(context_);
  batch.numbers.clear();
  batch.tokens.resize(context * samples.size());
  batch.classes.resize(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t k = 0; k < context; ++k) batch.tokens[i * context + k] = token(samples[i] + k);
    batch.classes[i] = token(samples[i] + context);
  }
  return ok_status();
}

}  // namespace tidepool::trainer
