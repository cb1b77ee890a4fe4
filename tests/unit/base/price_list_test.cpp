// Prices over time as arithmetic: which one holds, and when the next one does.
#include "base/price_list.hpp"

#include <catch2/catch.hpp>

#include "base/calendar.hpp"
#include "base/rng.hpp"
#include "base/timestamp.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

constexpr std::int64_t kMinute_us = 60'000'000;

Money money(std::int64_t cents) {
  return Money::micros(cents * 10'000);
}

std::int64_t at(const char* time) {
  return micros_of(time).value();
}

PriceWindow window(const char* hours, std::int64_t cents, std::uint8_t days = kAllDays) {
  PriceWindow window{.days = days, .price = money(cents)};
  REQUIRE(parse_hours(hours, window).ok());
  return window;
}

std::string changes_at(const PriceRule& rule, const char* time) {
  const auto next = next_change_us(rule, at(time));
  return next ? timestamp_text(*next / 1'000'000) : "never";
}

PriceRule random_rule(Rng& rng, std::int64_t near) {
  PriceRule rule{.name = "any"};
  std::int64_t from = near - rng.between(0, 3 * kDayMicros);
  for (std::int64_t n = rng.between(1, 3); n > 0; --n) {
    PriceEntry entry{.from_us = from, .price = money(rng.between(1, 3))};
    if (rule.entries.empty() && rng.chance(0.3)) entry.from_us.reset();
    for (std::int64_t windows = rng.between(0, 3); windows > 0; --windows) {
      PriceWindow one{.days = static_cast<std::uint8_t>(rng.between(1, kAllDays)),
                      .from_minute = static_cast<int>(rng.between(0, kDayMinutes - 1)),
                      .to_minute = static_cast<int>(rng.between(1, kDayMinutes)),
                      .price = money(rng.between(1, 3))};
      if (one.from_minute == one.to_minute) one.to_minute = kDayMinutes;
      entry.schedule.push_back(one);
    }
    rule.entries.push_back(std::move(entry));
    from += rng.between(1, 4 * kDayMicros);
  }
  return rule;
}

}  // namespace

TEST_CASE("a price holds from its moment on, until the next one does") {
  const PriceRule rule{.name = "h100",
                       .entries = {{.from_us = at("2026-12-01T00:00:00Z"), .price = money(250)},
                                   {.from_us = at("2027-01-01T00:00:00Z"), .price = money(200)}}};
  CHECK_FALSE(price_at(rule, at("2026-12-01T00:00:00Z") - 1));
  CHECK(price_at(rule, at("2026-12-01T00:00:00Z")) == money(250));
  CHECK(price_at(rule, at("2027-01-01T00:00:00Z") - 1) == money(250));
  CHECK(price_at(rule, at("2027-01-01T00:00:00Z")) == money(200));
  CHECK(changes_at(rule, "2026-11-24T00:00:00Z") == "2026-12-01T00:00:00Z");
  CHECK(changes_at(rule, "2026-12-01T00:00:00Z") == "2027-01-01T00:00:00Z");
  CHECK(changes_at(rule, "2027-01-01T00:00:00Z") == "never");
}

TEST_CASE("nights go on past midnight, and belong to the day on which they begin") {
  // Friday and Saturday nights.
  const PriceRule rule{.name = "nights",
                       .entries = {{.from_us = {}, .price = money(200), .schedule = {window("22-06", 50, 0x30)}}}};
  CHECK(price_at(rule, at("2026-11-27T21:59:59Z")) == money(200));  // a Friday
  CHECK(price_at(rule, at("2026-11-27T22:00:00Z")) == money(50));
  CHECK(price_at(rule, at("2026-11-28T05:59:59Z")) == money(50));
  CHECK(price_at(rule, at("2026-11-28T06:00:00Z")) == money(200));
  CHECK(price_at(rule, at("2026-11-29T05:00:00Z")) == money(50));   // Sunday, of Saturday's night
  CHECK(price_at(rule, at("2026-11-29T22:00:00Z")) == money(200));  // Sunday's own is dear
  CHECK(changes_at(rule, "2026-11-24T00:00:00Z") == "2026-11-27T22:00:00Z");
  CHECK(changes_at(rule, "2026-11-27T22:00:00Z") == "2026-11-28T06:00:00Z");
  CHECK(changes_at(rule, "2026-11-29T06:00:00Z") == "2026-12-04T22:00:00Z");
}

TEST_CASE("of windows the first one that holds counts, and one of the same price changes nothing") {
  const PriceRule rule{
      .name = "any",
      .entries = {{.from_us = {}, .price = money(100), .schedule = {window("12-13", 100), window("8-18", 300)}}}};
  CHECK(price_at(rule, at("2026-11-24T12:30:00Z")) == money(100));
  CHECK(price_at(rule, at("2026-11-24T13:00:00Z")) == money(300));
  const PriceRule flat{.name = "flat",
                       .entries = {{.from_us = {}, .price = money(100), .schedule = {window("12-13", 100)}}}};
  CHECK(changes_at(flat, "2026-11-24T12:30:00Z") == "never");
}

TEST_CASE("the next change is the first minute or moment of an entry at which the price differs") {
  for_each_seed("price changes", 60, [](std::uint64_t, Rng& rng) {
    const std::int64_t near = at("2026-11-23T00:00:00Z");
    const PriceRule rule = random_rule(rng, near);
    const std::int64_t from = near + rng.between(0, 7 * kDayMicros);
    const auto before = price_at(rule, from);
    std::optional<std::int64_t> first;
    for (const PriceEntry& entry : rule.entries) {
      if (entry.from_us.value_or(from) > from && price_at(rule, *entry.from_us) != before) {
        first = std::min(*entry.from_us, first.value_or(*entry.from_us));
      }
    }
    // What two weeks after the last entry do not bring, no week does.
    const std::int64_t last = std::max(from, rule.entries.back().from_us.value_or(from)) + 14 * kDayMicros;
    for (std::int64_t minute = from - from % kMinute_us + kMinute_us; minute <= std::min(last, first.value_or(last));
         minute += kMinute_us) {
      if (price_at(rule, minute) == before) continue;
      first = minute;
      break;
    }
    REQUIRE(next_change_us(rule, from) == first);
  });
}

TEST_CASE("hours and days are read as they are written, and wrong ones are refused") {
  for (const char* hours : {"22-06", "00-24", "08:30-17", "22:15-06:45"}) CHECK(hours_text(window(hours, 1)) == hours);
  CHECK(hours_text(window("22-0", 1)) == "22-24");
  for (const char* wrong : {"", "22", "22-25", "24-06", "6-6", "6:60-7", "a-b", "-", "6-7-8", "006-7"}) {
    INFO(wrong);
    PriceWindow window;
    CHECK_FALSE(parse_hours(wrong, window).ok());
  }
  CHECK(days_of({.days = 0x41, .price = {}}) == std::vector<std::string>{"mon", "sun"});
  CHECK(*parse_day("sun") == 0x40);
  CHECK_FALSE(parse_day("sunday").ok());
}

TEST_CASE("a discount is rounded down to a millionth") {
  CHECK(with_discount(Money::micros(101), 50) == Money::micros(50));
  CHECK(with_discount(money(250), 0) == money(250));
  CHECK(with_discount(money(250), 100) == Money());
}

TEST_CASE("a price list that contradicts itself is refused with what to do") {
  const auto refusal = [](const PriceRule& rule) {
    const Status status = check_price_list({{rule}});
    return status.ok() ? std::string() : status.error().message;
  };
  const PriceEntry plain{.from_us = {}, .price = money(1)};
  CHECK(refusal({.name = "a", .entries = {plain}}).empty());
  CHECK(refusal({.name = "", .entries = {plain}}) == "a price rule needs a name");
  CHECK(refusal({.name = "a"}) == "price rule \"a\": it needs a price, such as entries: [{price: 2.50}]");
  CHECK_THAT(refusal({.name = "a", .entries = {plain, plain}}), Catch::Contains("only the first may lack one"));
  CHECK_THAT(refusal({.name = "a", .spot_discount = 101, .entries = {plain}}), Catch::Contains("0 to 100"));
  CHECK_FALSE(check_price_list({{{.name = "a", .entries = {plain}}, {.name = "a", .entries = {plain}}}}).ok());
}

}  // namespace tidepool::test
