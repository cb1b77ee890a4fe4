// Reading comma-separated text without quotes whose first line names the columns. Errors name the file and the line.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tidepool::sim {

struct CsvRow {
  int line = 0;                         // in the text, from 1
  std::vector<std::string_view> cells;  // in the order in which the columns were asked for; views into the text
};

// The asked columns of every line but the first, without blanks at their ends; "a|b" asks for either name. Others are
// ignored, empty lines are skipped.
[[nodiscard]] Result<std::vector<CsvRow>> read_csv_columns(std::string_view text,
                                                           const std::vector<std::string_view>& columns,
                                                           const std::string& file);

[[nodiscard]] Result<double> csv_number(std::string_view cell, int line, const std::string& file);
// Times of a workload, with or without a fraction.
inline constexpr double kCsvSecondsMax = 10 * 366 * 86'400.0;
[[nodiscard]] Result<double> csv_seconds(std::string_view cell, int line, const std::string& file);
// Between 0 and 2^31 - 1; 12.0 is whole, too.
[[nodiscard]] Result<int> csv_count(std::string_view cell, int line, const std::string& file);
// The same above 0.
[[nodiscard]] Result<int> csv_positive(std::string_view cell, int line, const std::string& file);
// Remembers the name of a job; an error if another job has it.
[[nodiscard]] Status csv_new_name(std::set<std::string>& names, const std::string& name, int line,
                                  const std::string& file);

}  // namespace tidepool::sim
