#include "workers/trainer/table_data.hpp"

#include <algorithm>

namespace tidepool::trainer {

Status TableData::fill(std::span<const std::uint64_t> samples, Batch& batch) const {
  const auto width = static_cast<std::size_t>(table_.features);
  batch.tokens.clear();
  batch.numbers.resize(width * samples.size());
  batch.classes.resize(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::copy_n(table_.values.data() + samples[i] * width, width, batch.numbers.data() + i * width);
    batch.classes[i] = table_.classes[samples[i]];
  }
  return ok_status();
}

}  // namespace tidepool::trainer
