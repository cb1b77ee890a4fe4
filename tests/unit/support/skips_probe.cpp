// Test cases of each outcome, for skips_test.py, which runs them by name.
#include <catch2/catch.hpp>

#include "tests/support/skips.hpp"

TEST_CASE("passes") {
  CHECK(1 + 1 == 2);
}

TEST_CASE("is skipped") {
  tidepool::test::skip_case("there is no data");
}

TEST_CASE("is skipped as well") {
  tidepool::test::skip_case("there is none either");
}

TEST_CASE("fails", "[.]") {
  CHECK(1 + 1 == 3);
}

TEST_CASE("fails as often as a skip's status says", "[.]") {
  for (int i = 0; i < tidepool::test::kSkipExit; ++i) CHECK(i < 0);
}
