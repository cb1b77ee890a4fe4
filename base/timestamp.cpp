#include "base/timestamp.hpp"

#include <array>
#include <cstdio>

#include "base/calendar.hpp"

namespace tidepool {
namespace {

// The digits of `text` from `at` on, as a number of at most `most`.
std::optional<int> number_in(std::string_view text, std::size_t at, std::size_t digits, int most) {
  int value = 0;
  for (const char c : text.substr(at, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = 10 * value + (c - '0');
  }
  return value <= most ? std::optional(value) : std::nullopt;
}

// ".120" -> 120000; digits beyond microseconds are cut off.
std::optional<std::int64_t> micros_of_fraction(std::string_view text) {
  if (text.empty()) return 0;
  if (text.size() < 2 || text.front() != '.') return std::nullopt;
  std::int64_t micros = 0;
  std::int64_t unit = 100'000;
  for (const char c : text.substr(1)) {
    if (c < '0' || c > '9') return std::nullopt;
    micros += (c - '0') * unit;
    unit /= 10;
  }
  return micros;
}

}  // namespace

std::optional<std::int64_t> micros_of(std::string_view text) {
  constexpr std::string_view kShape = "yyyy-mm-ddThh:mm:ss";
  constexpr std::string_view kNoOffset = "+00:00";
  const bool is_utc = text.ends_with('Z') || text.ends_with(kNoOffset);
  const std::size_t zone_size = text.ends_with('Z') ? 1 : kNoOffset.size();
  if (!is_utc || text.size() < kShape.size() + zone_size) return std::nullopt;
  for (const std::size_t at : {4U, 7U, 10U, 13U, 16U}) {
    if (text[at] != kShape[at]) return std::nullopt;
  }
  const auto day = parse_date(text.substr(0, 10));
  const auto hours = number_in(text, 11, 2, 23);
  const auto minutes = number_in(text, 14, 2, 59);
  const auto seconds = number_in(text, 17, 2, 60);  // 60: a leap second
  const auto fraction = micros_of_fraction(text.substr(kShape.size(), text.size() - kShape.size() - zone_size));
  if (!day.ok() || !hours || !minutes || !seconds || !fraction) return std::nullopt;
  const std::int64_t of_day = *hours * 3'600 + *minutes * 60 + *seconds;
  return *day * kDayMicros + of_day * 1'000'000 + *fraction;
}

std::string timestamp_text(std::int64_t unix_seconds) {
  const std::int64_t day = day_of(unix_seconds * 1'000'000);
  const auto of_day = static_cast<int>(unix_seconds - day * kDaySeconds);
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "T%02d:%02d:%02dZ", of_day / 3'600, of_day / 60 % 60, of_day % 60);
  return date_text(day) + text.data();
}

}  // namespace tidepool
