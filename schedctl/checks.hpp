// Checks of option values with plain messages: those of CLI11 name types, and ranges of 309 digits.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/number_text.hpp"
#include "base/time.hpp"

namespace tidepool::ctl {

// "010" is 10 to people and 8 to CLI11, which reads it as C does.
[[nodiscard]] inline bool has_leading_zero(std::string_view number) {
  if (number.starts_with('-')) number.remove_prefix(1);
  return number.size() > 1 && number.starts_with('0');
}

[[nodiscard]] inline CLI::Validator whole_number(std::int64_t low, std::int64_t high) {
  const auto check = [low, high](const std::string& text) {
    const auto number = parse_number<std::int64_t>(text);
    if (number && has_leading_zero(text)) return "must have no 0 before its first digit, not \"" + text + "\"";
    if (number && *number >= low && *number <= high) return std::string();
    return "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high) + ", not \"" + text +
           "\"";
  };
  return {check, ""};
}

// Converts "2m" to seconds, for whole_number(); a plain number is kept.
[[nodiscard]] inline CLI::Validator seconds_of_duration() {
  const auto write = [](std::string& text) {
    constexpr std::int64_t kMicros = 1'000'000;
    if (text.empty() || text.back() < 'a' || text.back() > 'z') return std::string();
    const auto read = parse_duration(text);
    if (!read.ok()) return read.error().message;
    if (read->count_us() % kMicros != 0) return "must be of whole seconds, not \"" + text + "\"";
    text = std::to_string(read->count_us() / kMicros);
    return std::string();
  };
  return {write, ""};
}

// Refuses an empty value: a script with an empty variable does not mean to omit the option.
[[nodiscard]] inline CLI::Validator not_empty() {
  return {[](const std::string& text) { return std::string(text.empty() ? "must not be empty" : ""); }, ""};
}

}  // namespace tidepool::ctl
