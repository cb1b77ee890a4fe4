#include "sim/text_lines.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/number_text.hpp"

namespace tidepool::sim {

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<std::string_view> cells_of(std::string_view line, char separator) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t end = line.find(separator);
    cells.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
}

std::string_view trimmed(std::string_view cell) {
  while (cell.starts_with(' ') || cell.starts_with('\t')) cell.remove_prefix(1);
  while (cell.ends_with(' ') || cell.ends_with('\t')) cell.remove_suffix(1);
  return cell;
}

std::vector<std::string_view> header_cells(std::string_view line, char separator) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  std::vector<std::string_view> cells = cells_of(line, separator);
  for (std::string_view& cell : cells) cell = trimmed(cell);
  return cells;
}

std::optional<double> finite_number(std::string_view text) {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string short_text(double number) {
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return {buffer.data(), end};
}

std::optional<std::size_t> column_at(const std::vector<std::string_view>& header, std::string_view names) {
  for (const std::string_view name : cells_of(names, '|')) {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
  }
  return std::nullopt;
}

}  // namespace tidepool::sim
