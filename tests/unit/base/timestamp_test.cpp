#include "base/timestamp.hpp"

#include <catch2/catch.hpp>

namespace tidepool {
namespace {

TEST_CASE("A time is read to the microsecond") {
  CHECK(micros_of("1970-01-01T00:00:01Z") == 1'000'000);
  CHECK(micros_of("1970-01-02T00:00:00.120Z") == 86'400'120'000);
  CHECK(micros_of("1970-01-01T00:00:00.1234567Z") == 123'456);
  CHECK(micros_of("2024-02-29T23:59:60Z") == micros_of("2024-03-01T00:00:00Z"));
}

TEST_CASE("UTC is Z or an offset of zero") {
  CHECK(micros_of("1970-01-01T00:00:01+00:00") == 1'000'000);
  CHECK(micros_of("1970-01-02T00:00:00.120+00:00") == 86'400'120'000);
  for (const char* wrong : {"+00:00", "1970-01-01T00:00:01-00:30", "1970-01-01T00:00:01+0000", "1970-01-01T00:00+00:00",
                            "1970-01-01T00:00:01.+00:00", "1970-01-01T00:00:01Z+00:00"}) {
    INFO(wrong);
    CHECK_FALSE(micros_of(wrong));
  }
}

TEST_CASE("A time in whole seconds is written as it is read") {
  for (const char* text : {"1970-01-01T00:00:00Z", "2024-02-29T23:59:59Z", "2026-12-01T08:30:07Z"}) {
    CHECK(timestamp_text(micros_of(text).value() / 1'000'000) == text);
  }
}

TEST_CASE("What is no time in UTC is refused") {
  for (const char* wrong :
       {"", "Z", "yesterday", "2026-13-40T00:00:00.000Z", "2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00", "2026-01-01 00:00:00Z",
        "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00xZ", "2026-01-01T00:00:00.1x0Z", "2026-01-01T00:00:00+01:00",
        "2026-1-01T00:00:000Z", "-026-01-01T00:00:00Z"}) {
    INFO(wrong);
    CHECK_FALSE(micros_of(wrong));
  }
}

}  // namespace
}  // namespace tidepool
