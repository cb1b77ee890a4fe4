// Classification of the rows of a table with one hidden layer. Sample k is row k.
#pragma once

#include "workers/trainer/csv_table.hpp"
#include "workers/trainer/dense_net.hpp"
#include "workers/trainer/model.hpp"

namespace tidepool::trainer {

class Mlp final : public Model {
 public:
  // `seed` of the initial parameters.
  Mlp(CsvTable table, int hidden, std::uint64_t seed);

  [[nodiscard]] std::uint64_t samples() const override { return table_.classes.size(); }
  [[nodiscard]] std::span<float> parameters() override { return parameters_; }
  [[nodiscard]] double add_gradient(std::span<const std::uint64_t> batch, std::span<float> gradient) override;

 private:
  CsvTable table_;
  DenseShape shape_;
  std::vector<float> parameters_;
};

}  // namespace tidepool::trainer
