// Lines of a text and cells of a line, as views into the text. Nothing is unquoted: no format that is read here quotes.
#pragma once

#include <string_view>
#include <vector>

namespace tidepool::sim {

// Takes the first line off `text`, without its line feed or carriage return.
[[nodiscard]] std::string_view take_line(std::string_view& text);

// What lies between the separators; an empty line has one empty cell.
[[nodiscard]] std::vector<std::string_view> cells_of(std::string_view line, char separator = ',');

}  // namespace tidepool::sim
