// Lines of a text and cells of a line, as views into the text, and the numbers in them. Nothing is unquoted: no format
// that is read here quotes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidepool::sim {

// Takes the first line off `text`, without its line feed or carriage return.
[[nodiscard]] std::string_view take_line(std::string_view& text);

// What lies between the separators; an empty line has one empty cell.
[[nodiscard]] std::vector<std::string_view> cells_of(std::string_view line, char separator = ',');

// Without blanks at its ends.
[[nodiscard]] std::string_view trimmed(std::string_view cell);

// A number that is the whole text; nothing if it is none, or not finite.
[[nodiscard]] std::optional<double> finite_number(std::string_view text);
// The shortest text that reads back as the same number.
[[nodiscard]] std::string short_text(double number);

// The names in a first line: without a byte order mark, and trimmed.
[[nodiscard]] std::vector<std::string_view> header_cells(std::string_view line, char separator = ',');

// Where a column stands that has one of the names in "a|b", the first of them first; nothing if none is there.
[[nodiscard]] std::optional<std::size_t> column_at(const std::vector<std::string_view>& header, std::string_view names);

}  // namespace tidepool::sim
