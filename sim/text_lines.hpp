// Lines of a text and cells of a line, as views into the text, and the numbers in them. Quotes are not interpreted: no
// format that is read here has them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidepool::sim {

// Removes the first line from `text` and returns it without its line feed or carriage return.
[[nodiscard]] std::string_view take_line(std::string_view& text);

// The cells between the separators; an empty line has one empty cell.
[[nodiscard]] std::vector<std::string_view> cells_of(std::string_view line, char separator = ',');

// Without blanks at its ends.
[[nodiscard]] std::string_view trimmed(std::string_view cell);

// The number that the whole text is; none if it is not a finite number.
[[nodiscard]] std::optional<double> finite_number(std::string_view text);
// The shortest text that reads back as the same number.
[[nodiscard]] std::string short_text(double number);

// The names in a first line: without a byte order mark, and trimmed.
[[nodiscard]] std::vector<std::string_view> header_cells(std::string_view line, char separator = ',');

// The index of the column with one of the names in "a|b", trying them in this order; none if there is none.
[[nodiscard]] std::optional<std::size_t> column_at(const std::vector<std::string_view>& header, std::string_view names);

}  // namespace tidepool::sim
