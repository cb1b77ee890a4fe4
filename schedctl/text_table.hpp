// Columns of text under a header line. Flexible columns give way, the widest first, until the table fits; none
// does where all is wanted whole.
#pragma once

#include <string>
#include <vector>

#include "schedctl/words.hpp"

namespace tidepool::ctl {

struct Column {
  std::string title;
  bool right = false;     // numbers
  bool flexible = false;  // may be cut to eight columns
  bool wraps = false;     // flexible, and goes on in further lines instead of being cut; for a last column of words
  bool state = false;     // painted by coloured_state()
};

class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell a column; control characters are replaced.
  void add(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  // Each line ends with a newline and no blanks.
  [[nodiscard]] std::string text(const Style& style) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths(const Style& style) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tidepool::ctl
