#include "schedctl/folded_rows.hpp"

namespace tidepool::ctl {

void FoldedRows::add(HistoryRow row) {
  const auto [newest, is_first] = newest_of_.try_emplace(row.subject, rows_.size());
  if (fold_ && !is_first && rows_[newest->second].row.words == row.words) {
    Folded& same = rows_[newest->second];
    ++same.times;
    same.other_at = std::move(row.at);
    return;
  }
  newest->second = rows_.size();
  rows_.push_back({.row = std::move(row), .times = 1, .other_at = ""});
}

std::vector<std::string> FoldedRows::lines() const {
  std::vector<std::string> lines;
  lines.reserve(rows_.size());
  for (const Folded& each : rows_) {
    lines.push_back(each.row.head + "  " + each.row.words);
    if (each.times == 1) continue;
    lines.back() += "  (" + std::to_string(each.times) + " times, " + other_end_ + " at " + each.other_at + ")";
  }
  return lines;
}

}  // namespace tidepool::ctl
