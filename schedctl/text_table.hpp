// Columns of text under a header line. Flexible columns are narrowed, the widest first, until the table fits; if that
// is not enough, spare columns are left out, and on a terminal a last line names them. With Style::whole nothing is
// cut.
#pragma once

#include <string>
#include <vector>

#include "schedctl/words.hpp"

namespace tidepool::ctl {

struct Column {
  std::string title;
  bool right = false;     // numbers
  bool flexible = false;  // may be cut to `least` columns
  bool wraps = false;     // flexible, and goes on in further lines instead of being cut; for a last column of words
  bool state = false;     // painted by coloured_state()
  int spare = 0;          // the highest is left out first; 0: never
  std::size_t least = 8;  // of a flexible one, and no less than its title
  int needs = 0;          // left out where the table may not be so wide
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
  struct Shown {
    std::size_t column = 0;
    std::size_t width = 0;
  };
  [[nodiscard]] static std::size_t width_of(const std::vector<Shown>& shown);
  // All of them, as wide as they are.
  [[nodiscard]] std::vector<Shown> all_columns() const;
  // As near to the width as flexible ones can give way.
  [[nodiscard]] std::vector<Shown> cut(std::vector<Shown> shown, std::size_t width) const;
  [[nodiscard]] std::vector<Shown> fitting(const Style& style) const;
  // "" where all are shown, or no person reads it.
  [[nodiscard]] std::string left_out(const std::vector<Shown>& shown, const Style& style) const;
  [[nodiscard]] std::string line(const std::vector<Shown>& shown, const std::vector<std::string>& row,
                                 const Style& style) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tidepool::ctl
