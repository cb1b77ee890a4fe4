// Texts of bounded length that stay UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tidepool {

// The length of `text` without an incomplete UTF-8 sequence at its end.
[[nodiscard]] std::size_t whole_utf8_length(std::string_view text);

// The beginning of `text`, at most `bytes_max` bytes.
[[nodiscard]] std::string cut_to(std::string_view text, std::size_t bytes_max);

// The same for people: "…" replaces the rest. Requires: bytes_max is at least its 3 bytes.
[[nodiscard]] std::string shortened_to(std::string_view text, std::size_t bytes_max);

}  // namespace tidepool
