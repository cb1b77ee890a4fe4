#include "schedctl/text_table.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace tidepool::ctl {
namespace {

constexpr std::size_t kGap = 2;

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

std::vector<TextTable::Shown> TextTable::all_columns() const {
  std::vector<Shown> all;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = columns_of(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, columns_of(row[c]));
    all.push_back({c, width});
  }
  return all;
}

std::size_t TextTable::width_of(const std::vector<Shown>& shown) {
  std::size_t width = shown.empty() ? 0 : kGap * (shown.size() - 1);
  for (const Shown& each : shown) width += each.width;
  return width;
}

std::vector<TextTable::Shown> TextTable::cut(std::vector<Shown> shown, std::size_t width) const {
  for (std::size_t total = width_of(shown); total > width; --total) {
    Shown* widest = nullptr;
    for (Shown& each : shown) {
      const Column& column = columns_[each.column];
      const std::size_t floor = std::max(column.least, columns_of(column.title));
      if (!(column.flexible || column.wraps) || each.width <= floor) continue;
      if (widest == nullptr || each.width > widest->width) widest = &each;
    }
    if (widest == nullptr) break;  // nothing can give way any more
    --widest->width;
  }
  return shown;
}

std::vector<TextTable::Shown> TextTable::fitting(const Style& style) const {
  std::vector<Shown> shown = all_columns();
  std::erase_if(shown, [&](const Shown& each) { return columns_[each.column].needs > style.width; });
  if (style.whole) return shown;
  const auto width = static_cast<std::size_t>(std::max(style.width, 0));
  for (;;) {
    std::vector<Shown> fitted = cut(shown, width);
    const auto spare =
        std::ranges::max_element(shown, {}, [&](const Shown& each) { return columns_[each.column].spare; });
    if (width_of(fitted) <= width || columns_[spare->column].spare == 0) return fitted;
    shown.erase(spare);
  }
}

std::string TextTable::line(const std::vector<Shown>& shown, const std::vector<std::string>& row,
                            const Style& style) const {
  std::string line;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto& [c, width] = shown[i];
    if (i > 0) line += std::string(kGap, ' ');
    std::string cell =
        columns_[c].wraps ? folded(row[c], width, columns_of(line)) : padded(row[c], width, columns_[c].right);
    line += columns_[c].state ? coloured_state(cell, row[c], style) : cell;
  }
  trim_end(line);
  return line + "\n";
}

std::string TextTable::left_out(const std::vector<Shown>& shown, const Style& style) const {
  if (!style.terminal || shown.size() == columns_.size()) return "";
  std::string names;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (std::ranges::find(shown, c, &Shown::column) != shown.end()) continue;
    names += (names.empty() ? "" : ", ") + columns_[c].title;
  }
  return dim(wrapped("columns left out: " + names + " (a wider terminal or -o json shows them)", 0, style), style) +
         "\n";
}

std::string TextTable::text(const Style& style) const {
  const auto shown = fitting(style);
  std::string header;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Column& column = columns_[shown[i].column];
    header += (i > 0 ? std::string(kGap, ' ') : "") + padded(column.title, shown[i].width, column.right);
  }
  trim_end(header);
  std::string out = dim(header, style) + "\n";
  for (const auto& row : rows_) out += line(shown, row, style);
  return out + left_out(shown, style);
}

}  // namespace tidepool::ctl
