#include "base/comma_number.hpp"

#include <catch2/catch.hpp>

#include "base/json.hpp"
#include "base/money.hpp"

namespace tidepool {

TEST_CASE("a number with commas is what it may have meant") {
  using Numbers = std::vector<std::string>;
  CHECK(numbers_meant("1,00") == Numbers{"1.00"});
  CHECK(numbers_meant("0,5") == Numbers{"0.5"});
  CHECK(numbers_meant("1,000") == Numbers{"1000", "1.000"});
  CHECK(numbers_meant("12,345,678") == Numbers{"12345678"});
  CHECK(numbers_meant("1,234.50") == Numbers{"1234.50"});
  for (const char* text : {"", ",", "1", "1.5", "1,", ",5", "1,,000", "1,2,3", "1.234,5", "1,5 USD", "1234,567,890"}) {
    INFO(text);
    CHECK(numbers_meant(text).empty());
  }
}

TEST_CASE("an amount, a number and a whole number with a comma are refused with what to write") {
  CHECK(parse_money("1,00").error().message == "\"1,00\" is not an amount; write 1.00");
  CHECK(parse_money("5,000").error().message == "\"5,000\" is not an amount; write 5000 or 5.000");
  CHECK(parse_money("much").error().message.ends_with("with at most six decimals, such as 2.50"));
  std::vector<FieldError> errors;
  const nlohmann::json value = {{"share", "0,5"}, {"slots", "1,000"}, {"half", "0,5"}};
  ObjectReader in(value, "", errors);
  (void)in.number("share", 0, 0, 1);
  (void)in.integer("slots", 0, {});
  (void)in.integer("half", 0, {});
  REQUIRE(errors.size() == 3);
  CHECK(errors[0].message == "share must be a number; write 0.5");
  CHECK(errors[1].message == "slots must be a whole number; write 1000");
  CHECK(errors[2].message == "half must be a whole number");
}

TEST_CASE("what a comma within a mapping has cut from a number is told as that") {
  std::vector<FieldError> errors;
  const nlohmann::json value = {{"limit", 1}, {"00", nullptr}};
  ObjectReader in(value, "/budget", errors);
  (void)in.integer("limit", 0, {});
  in.finish();
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].pointer == "/budget/00");
  CHECK(errors[0].message ==
        "00 is not a field here; a comma ends a value within {}: write 1.00 for 1,00, and 1000 for 1,000");
}

}  // namespace tidepool
