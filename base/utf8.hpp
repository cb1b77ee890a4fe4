// Texts of bounded length that stay UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tidepool {

// The length of `text` without a UTF-8 sequence that is cut off at its end.
[[nodiscard]] std::size_t whole_utf8_length(std::string_view text);

// Its beginning, of at most so many bytes.
[[nodiscard]] std::string cut_to(std::string_view text, std::size_t bytes_max);

// The same for people: "…" stands for the rest. Requires room for it, 3 bytes.
[[nodiscard]] std::string shortened_to(std::string_view text, std::size_t bytes_max);

}  // namespace tidepool
