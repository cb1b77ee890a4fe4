#include "schedulerd/live/agents/request_rate.hpp"

#include <catch2/catch.hpp>

namespace tidepool::live {

TEST_CASE("an address asks so often at once, then at the rate, and others are not held up by it") {
  RequestRate rate({.at_once = 3, .per_second = 2});
  const auto taken = [&](const std::string& address, int tries, double now_s) {
    int got = 0;
    for (int i = 0; i < tries; ++i) got += rate.take(address, now_s) ? 1 : 0;
    return got;
  };
  CHECK(taken("a", 9, 100) == 3);
  CHECK(taken("b", 2, 100) == 2);
  CHECK(taken("a", 9, 100.25) == 0);
  CHECK(taken("a", 9, 100.5) == 1);
  CHECK(taken("a", 9, 101.5) == 2);
  CHECK(taken("a", 9, 1'000) == 3);  // no more than at once, however long it waited
}

TEST_CASE("an address that is forgotten because it asks no more begins anew, and one that asks stays bound") {
  RequestRate rate({.at_once = 1, .per_second = 1});
  CHECK(rate.take("a", 0));
  for (int i = 0; i < 5'000; ++i) CHECK(rate.take("x" + std::to_string(i), 0.5));
  CHECK_FALSE(rate.take("a", 0.5));
  CHECK(rate.take("a", 2));
}

}  // namespace tidepool::live
