// Folds repeated rows of a history: a job waits, or a provider fails, for the same reason again. A row equal to the
// previous row of its subject is counted there instead of printed. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tidepool::ctl {

struct HistoryRow {
  std::string head;     // number and time: what may differ between rows that are alike
  std::string subject;  // rows of others may lie between those that are alike
  std::string words;
  std::string at;  // as it is shown beside the count
};

class FoldedRows {
 public:
  // `other_end`: what the time of the row that came last is, "first" where the newest come first, else "last".
  FoldedRows(bool fold, std::string other_end) : fold_(fold), other_end_(std::move(other_end)) {}

  void add(HistoryRow row);
  // In the order of the first of each: "HEAD  WORDS" or "HEAD  WORDS  (5 times, first at 21:50:02)".
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  struct Folded {
    HistoryRow row;
    std::size_t times = 1;
    std::string other_at;
  };

  bool fold_;
  std::string other_end_;
  std::vector<Folded> rows_;
  std::map<std::string, std::size_t> newest_of_;  // by subject
};

}  // namespace tidepool::ctl
