#include <catch2/catch.hpp>

#include "base/calendar.hpp"

namespace tidepool {

TEST_CASE("every day of four hundred years has its own date, in order") {
  Date before = date_of(-1);
  CHECK(before == Date{1969, 12, 31});
  for (std::int64_t day = 0; day < 146'097; ++day) {
    const Date date = date_of(day);
    REQUIRE(day_of(date) == day);
    const bool next_day = date.year == before.year && date.month == before.month && date.day == before.day + 1;
    const bool next_month =
        date.day == 1 && before.day >= 28 &&
        (date.month == before.month + 1 ? date.year == before.year : date.month == 1 && date.year == before.year + 1);
    REQUIRE((next_day || next_month));
    before = date;
  }
  CHECK(before == Date{2369, 12, 31});
}

TEST_CASE("weeks begin on Mondays and months on their first") {
  const std::int64_t leap_day = day_of(Date{2024, 2, 29});  // a Thursday
  CHECK(date_text(leap_day) == "2024-02-29");
  CHECK(date_text(week_of(leap_day)) == "2024-02-26");
  CHECK(week_of(leap_day - 3) == leap_day - 3);
  CHECK(week_of(leap_day - 4) == leap_day - 10);
  CHECK(date_text(month_of(leap_day)) == "2024-02-01");
  CHECK(date_text(next_month_of(leap_day)) == "2024-03-01");
  CHECK(date_text(next_month_of(day_of(Date{2023, 12, 1}))) == "2024-01-01");
  CHECK(day_of(std::int64_t{-1}) == -1);
  CHECK(day_of(kDayMicros - 1) == 0);
}

TEST_CASE("a date reads back as it was written, and what is none is refused") {
  CHECK(parse_date("2024-02-29").value() == day_of(Date{2024, 2, 29}));
  for (const char* wrong : {"2023-02-29", "2024-13-01", "2024-1-01", "24-01-01", "2024/01/01", "2024-00-10",
                            "1969-12-31", "2024-01-32", "2024-01-0x", ""}) {
    INFO(wrong);
    CHECK_FALSE(parse_date(wrong));
  }
  CHECK(utc_text(0) == "1970-01-01 00:00 UTC");
  CHECK(utc_text(-1) == "1969-12-31 23:59 UTC");
}

}  // namespace tidepool
