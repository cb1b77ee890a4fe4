#include <catch2/catch.hpp>

#include "base/money.hpp"

using namespace tidepool;

TEST_CASE("The cost of slots is price times slots times hours, exactly") {
  const Money two = parse_money("2.00").value();
  CHECK(cost_of(two, 4, Duration::seconds(3600)) == parse_money("8").value());
  CHECK(cost_of(two, 1, Duration::seconds(1)) == Money::micros(555));  // 2,000,000 / 3,600, rounded down
}

TEST_CASE("A thousand slots for ten years do not overflow") {
  const Money price = parse_money("99.999999").value();
  const Money cost = cost_of(price, 1000, Duration::seconds(10LL * 366 * 86'400));
  CHECK(cost.to_units() == Approx(99.999999 * 1000 * 10 * 366 * 24));
}

TEST_CASE("Money in units is the number nearest to the amount") {
  CHECK(Money::micros(100'000).to_units() == 0.1);
  CHECK(Money::micros(4'858'748).to_units() == 4.858748);
}

TEST_CASE("Money prints with two to six decimals and reads back") {
  CHECK(to_text(Money::micros(2'500'000)) == "2.50");
  CHECK(to_text(Money::micros(125)) == "0.000125");
  CHECK(to_text(Money::micros(-1'000'000)) == "-1.00");
  CHECK(parse_money("0.000125").value() == Money::micros(125));
}

TEST_CASE("A price that would not be counted to its end is refused") {
  CHECK(parse_price("1000000").value() == Money::micros(1'000'000'000'000));
  CHECK_FALSE(parse_price("1000000.000001").ok());
  CHECK_FALSE(parse_price("999999999999").ok());
  CHECK_FALSE(parse_price("-1").ok());
}

TEST_CASE("A text that is no amount is refused") {
  for (const char* text : {"", ".", "1.", ".5", "-1", "1,5", "1.0000001", "1e3", "9999999999999"}) {
    INFO(text);
    CHECK_FALSE(parse_money(text).ok());
  }
}
