#include "schedctl/text_table.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"

namespace tidepool::ctl {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 8;

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string cut = shorten(text, width);
  const std::string blanks(width - std::min(width, columns_of(cut)), ' ');
  return right ? blanks + cut : cut + blanks;
}

// Words in lines of `width`, those after the first moved in by `indent`.
std::string folded(const std::string& text, std::size_t width, std::size_t indent) {
  std::string lines = wrapped(text, 0, {.width = static_cast<int>(width)});
  for (std::size_t at = lines.find('\n'); at != std::string::npos; at = lines.find('\n', at + 1)) {
    lines.insert(at + 1, indent, ' ');
  }
  return lines;
}

void trim_end(std::string& line) {
  while (line.ends_with(' ')) line.pop_back();
}

}  // namespace

void TextTable::add(std::vector<std::string> cells) {
  TP_CHECK(cells.size() == columns_.size(), "a row has one cell a column");
  for (auto& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::widths(const Style& style) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = columns_of(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, columns_of(row[c]));
    widths.push_back(width);
  }
  if (style.whole) return widths;
  const std::size_t gaps = kGap * (columns_.size() - 1);
  auto total = std::accumulate(widths.begin(), widths.end(), gaps);
  while (total > static_cast<std::size_t>(std::max(style.width, 0))) {
    std::size_t widest = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::size_t floor = std::max(kNarrowest, columns_of(columns_[c].title));
      if (!(columns_[c].flexible || columns_[c].wraps) || widths[c] <= floor) continue;
      if (widest == columns_.size() || widths[c] > widths[widest]) widest = c;
    }
    if (widest == columns_.size()) break;  // nothing can give way any more
    --widths[widest];
    --total;
  }
  return widths;
}

std::string TextTable::text(const Style& style) const {
  const auto width = widths(style);
  std::string out;
  std::string header;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    header += (c > 0 ? std::string(kGap, ' ') : "") + padded(columns_[c].title, width[c], columns_[c].right);
  }
  trim_end(header);
  out += dim(header, style) + "\n";
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::size_t begin = columns_of(line) + (c > 0 ? kGap : 0);
      std::string cell =
          columns_[c].wraps ? folded(row[c], width[c], begin) : padded(row[c], width[c], columns_[c].right);
      if (columns_[c].state) cell = coloured_state(cell, row[c], style);
      line += (c > 0 ? std::string(kGap, ' ') : "") + cell;
    }
    trim_end(line);
    out += line + "\n";
  }
  return out;
}

}  // namespace tidepool::ctl
