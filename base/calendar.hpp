// Days of the calendar in UTC, as numbers since 1 January 1970. Pure: no time zone is read, and no clock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tidepool {

inline constexpr std::int64_t kDaySeconds = 86'400;
inline constexpr std::int64_t kDayMicros = kDaySeconds * 1'000'000;

struct Date {
  int year = 1970;
  int month = 1;  // 1 to 12
  int day = 1;    // 1 to 31
  bool operator==(const Date&) const = default;
};

// The day that contains a moment given in microseconds since 1970.
[[nodiscard]] std::int64_t day_of(std::int64_t unix_us);
[[nodiscard]] Date date_of(std::int64_t day);
// Requires: a valid month; the day may be any number, and counts from the first of the month.
[[nodiscard]] std::int64_t day_of(const Date& date);
// The first day, a Monday, of the week that contains the day, and the first day of the month that contains it.
[[nodiscard]] std::int64_t week_of(std::int64_t day);
[[nodiscard]] std::int64_t month_of(std::int64_t day);
// The first day of the following month.
[[nodiscard]] std::int64_t next_month_of(std::int64_t day);

// "2026-12-01", and back; only existing dates from 1970 to 9999.
[[nodiscard]] std::string date_text(std::int64_t day);
[[nodiscard]] Result<std::int64_t> parse_date(std::string_view text);
// "2026-12-01 00:00 UTC".
[[nodiscard]] std::string utc_text(std::int64_t unix_seconds);
// "14:02:10 UTC".
[[nodiscard]] std::string utc_clock_text(std::int64_t unix_seconds);

}  // namespace tidepool
