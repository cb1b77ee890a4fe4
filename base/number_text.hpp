// Parses a text that is exactly one number.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace tidepool {

// The whole text must be the number, without blanks or a plus sign; none: it is not a number, or it does not fit.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace tidepool
