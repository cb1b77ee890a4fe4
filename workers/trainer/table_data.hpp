// The rows of a CSV file as samples of numbers. Sample k is row k.
#pragma once

#include <utility>

#include "workers/trainer/csv_table.hpp"
#include "workers/trainer/data_set.hpp"

namespace tidepool::trainer {

class TableData final : public DataSet {
 public:
  explicit TableData(CsvTable table) : table_(std::move(table)) {}

  [[nodiscard]] std::uint64_t samples() const override { return table_.classes.size(); }
  [[nodiscard]] int inputs() const override { return table_.features; }
  [[nodiscard]] int classes() const override { return static_cast<int>(table_.class_names.size()); }
  [[nodiscard]] Status fill(std::span<const std::uint64_t> samples, Batch& batch) const override;

 private:
  CsvTable table_;
};

}  // namespace tidepool::trainer
