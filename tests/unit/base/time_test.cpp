#include <catch2/catch.hpp>

#include "base/time.hpp"

using namespace tidepool;

TEST_CASE("Durations are read with their unit and printed in the shortest exact form") {
  CHECK(parse_duration("250ms").value() == Duration::millis(250));
  CHECK(parse_duration("1.5m").value() == Duration::seconds(90));
  CHECK(parse_duration("7d").value() == Duration::seconds(7 * 86'400));
  CHECK(to_text(Duration::seconds(90)) == "90s");
  CHECK(to_text(Duration::seconds(7200)) == "2h");
  CHECK(to_text(Duration::micros(1'500'000)) == "1500ms");
  CHECK(to_text(Duration{}) == "0s");
}

TEST_CASE("What is printed reads back as the same duration") {
  for (const std::int64_t us : {1LL, 999LL, 1'000LL, 61'000'000LL, 86'400'000'000LL, 123'456'789LL}) {
    CHECK(parse_duration(to_text(Duration::micros(us))).value() == Duration::micros(us));
  }
}

TEST_CASE("A text that is no duration is refused with an example of a right one") {
  for (const char* text :
       {"", "30", "s", "-5s", "1.2.3s", "30 s", "1e9s", "5 minutes", ".5s", "11y", "4000d", "99999999999999999999s"}) {
    const auto parsed = parse_duration(text);
    INFO(text);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.error().code == ErrorCode::kInvalidArgument);
  }
  CHECK(parse_duration("30").error().message.find("30s") != std::string::npos);
}
