// A text that is one number.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace tidepool {

// From its first letter to its last, without blanks or a plus; none: it is no such number, or one that does not fit.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace tidepool
