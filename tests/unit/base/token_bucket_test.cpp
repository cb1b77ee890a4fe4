#include "base/token_bucket.hpp"

#include <catch2/catch.hpp>

using namespace tidepool;

TEST_CASE("a bucket gives so many at once, then one each interval, and tells when the next is due") {
  constexpr RateLimit kLimit{.every = Duration::millis(500), .at_once = Duration::millis(1'500)};
  const auto at = [](int ms) { return Instant() + Duration::millis(ms); };
  TokenBucket bucket;
  for (int i = 0; i < 3; ++i) CHECK(bucket.take(kLimit, at(100'000)));
  CHECK_FALSE(bucket.take(kLimit, at(100'000)));
  CHECK(bucket.due(kLimit) == at(100'500));
  CHECK_FALSE(bucket.take(kLimit, at(100'499)));
  CHECK(bucket.take(kLimit, at(100'500)));
  CHECK_FALSE(bucket.is_full(at(101'999)));
  CHECK(bucket.is_full(at(102'000)));
  for (int i = 0; i < 3; ++i) CHECK(bucket.take(kLimit, at(900'000)));
  CHECK_FALSE(bucket.take(kLimit, at(900'000)));  // no more than at once, however long it waited
}
