#include "base/calendar.hpp"

#include <array>
#include <cstdio>

#include "base/number_text.hpp"

namespace tidepool {
namespace {

std::int64_t floor_divided(std::int64_t value, std::int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}

}  // namespace

std::int64_t day_of(std::int64_t unix_us) {
  return floor_divided(unix_us, kDayMicros);
}

// Years are counted from March, so that the leap day is a year's last day; 400 of them always have the same number of
// days.
std::int64_t day_of(const Date& date) {
  const std::int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const std::int64_t era = floor_divided(year, 400);
  const std::int64_t of_era = year - era * 400;
  const std::int64_t month = (date.month + 9) % 12;
  const std::int64_t of_year = (153 * month + 2) / 5 + date.day - 1;
  return era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

Date date_of(std::int64_t day) {
  day += 719'468;
  const std::int64_t era = floor_divided(day, 146'097);
  const std::int64_t in_era = day - era * 146'097;
  const std::int64_t of_era = (in_era - in_era / 1'460 + in_era / 36'524 - in_era / 146'096) / 365;
  const std::int64_t of_year = in_era - (365 * of_era + of_era / 4 - of_era / 100);
  const std::int64_t month = (5 * of_year + 2) / 153;
  const std::int64_t calendar_month = month < 10 ? month + 3 : month - 9;
  return {.year = static_cast<int>(of_era + era * 400 + (calendar_month <= 2 ? 1 : 0)),
          .month = static_cast<int>(calendar_month),
          .day = static_cast<int>(of_year - (153 * month + 2) / 5 + 1)};
}

std::int64_t week_of(std::int64_t day) {
  return floor_divided(day + 3, 7) * 7 - 3;  // day 0 is a Thursday
}

std::int64_t month_of(std::int64_t day) {
  return day - date_of(day).day + 1;
}

std::int64_t next_month_of(std::int64_t day) {
  return month_of(month_of(day) + 31);
}

std::string date_text(std::int64_t day) {
  const Date date = date_of(day);
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02d", date.year, date.month, date.day);
  return text.data();
}

Result<std::int64_t> parse_date(std::string_view text) {
  const Error wrong = invalid_argument("\"" + std::string(text) + "\" is no date; write it as 2026-12-01");
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return wrong;
  Date date;
  const auto read = [&](std::size_t at, std::size_t length, int& number) {
    number = parse_number<int>(text.substr(at, length)).value_or(0);
    return number >= 1;
  };
  if (!read(0, 4, date.year) || !read(5, 2, date.month) || !read(8, 2, date.day)) return wrong;
  if (date.year < 1970 || date.month > 12) return wrong;
  const std::int64_t day = day_of(date);
  if (date_of(day) != date) return wrong;  // such as 30 February
  return day;
}

std::string utc_text(std::int64_t unix_seconds) {
  const std::int64_t day = floor_divided(unix_seconds, kDaySeconds);
  const std::int64_t minutes = (unix_seconds - day * kDaySeconds) / 60;
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), " %02d:%02d UTC", static_cast<int>(minutes / 60),
                static_cast<int>(minutes % 60));
  return date_text(day) + text.data();
}

std::string utc_clock_text(std::int64_t unix_seconds) {
  const std::int64_t second = unix_seconds - floor_divided(unix_seconds, kDaySeconds) * kDaySeconds;
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%02d:%02d:%02d UTC", static_cast<int>(second / 3'600),
                static_cast<int>(second / 60 % 60), static_cast<int>(second % 60));
  return text.data();
}

}  // namespace tidepool
