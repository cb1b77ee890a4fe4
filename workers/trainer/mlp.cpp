#include "workers/trainer/mlp.hpp"

#include <algorithm>

namespace tidepool::trainer {

Mlp::Mlp(CsvTable table, int hidden, std::uint64_t seed)
    : table_(std::move(table)),
      shape_{.inputs = table_.features, .hidden = hidden, .classes = static_cast<int>(table_.class_names.size())},
      parameters_(shape_.parameters()) {
  Rng rng(seed);
  initialise_dense(shape_, rng, parameters_);
}

double Mlp::add_gradient(std::span<const std::uint64_t> batch, std::span<float> gradient) {
  const auto width = static_cast<std::size_t>(shape_.inputs);
  std::vector<float> inputs(width * batch.size());
  std::vector<int> classes(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    std::copy_n(table_.values.data() + batch[i] * width, width, inputs.data() + i * width);
    classes[i] = table_.classes[batch[i]];
  }
  return add_dense_gradient(shape_, parameters_, {.inputs = inputs, .classes = classes}, gradient);
}

}  // namespace tidepool::trainer
