// A CSV file of numbers with one column of labels, for classification. Fields are separated by commas, without quotes;
// the first line is a header if any field outside the label column is not a number.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tidepool::trainer {

struct CsvTable {
  int features = 0;
  std::vector<float> values;             // row-major, rows x features; standardised to mean 0, deviation 1
  std::vector<int> classes;              // by row, index into class_names
  std::vector<std::string> class_names;  // sorted
};

// `label` names the label's column (needs a header) or is empty for the last column. Errors name the line.
[[nodiscard]] Result<CsvTable> read_csv(std::string_view text, const std::string& label);

}  // namespace tidepool::trainer
