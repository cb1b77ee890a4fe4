#include "schedulerd/live/agents/request_rate.hpp"

#include <catch2/catch.hpp>

namespace tidepool::live {
namespace {

Instant at(int ms) {
  return Instant() + Duration::millis(ms);
}

}  // namespace

TEST_CASE("an address asks so often at once, then at the rate, and others are not held up by it") {
  RequestRate rate({.every = Duration::millis(500), .at_once = Duration::millis(1'500)});
  const auto taken = [&](const std::string& address, int tries, int now_ms) {
    int got = 0;
    for (int i = 0; i < tries; ++i) got += rate.take(address, at(now_ms)) ? 1 : 0;
    return got;
  };
  CHECK(taken("a", 9, 100'000) == 3);
  CHECK(taken("b", 2, 100'000) == 2);
  CHECK(taken("a", 9, 100'250) == 0);
  CHECK(taken("a", 9, 100'500) == 1);
  CHECK(taken("a", 9, 101'500) == 2);
  CHECK(taken("a", 9, 1'000'000) == 3);  // no more than at once, however long it waited
}

TEST_CASE("an address that is forgotten because it asks no more begins anew, and one that asks stays bound") {
  RequestRate rate({.every = Duration::seconds(1), .at_once = Duration::seconds(1)});
  CHECK(rate.take("a", at(0)));
  for (int i = 0; i < 5'000; ++i) CHECK(rate.take("x" + std::to_string(i), at(500)));
  CHECK_FALSE(rate.take("a", at(500)));
  CHECK(rate.take("a", at(2'000)));
}

}  // namespace tidepool::live
