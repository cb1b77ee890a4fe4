// What tidal says of a size, in numbers that can be worked out by hand.
#include <catch2/catch.hpp>

#include "policies/tidal/reasons.hpp"

namespace tidepool::policies::tidal {
namespace {

using core::ReasonCode;

// A slot is worth 1 up to one, 3 up to two, 1/2 up to four, 1 up to eight.
const Curve kCurve{{0, 0}, {1, 1}, {2, 4}, {4, 5}, {8, 9}};
const Terms kTerms{.price = 2.5, .free = 1, .rival = {}};

}  // namespace

TEST_CASE("who waits is told of the size whose slots are worth most each, and what that is") {
  cluster::JobRow job;
  job.size_max = 8;
  const core::Reason why = reason_for(job, kCurve, 0, kTerms);
  CHECK(why.code == ReasonCode::kPriceWait);
  CHECK(why.number("needed") == 2);
  CHECK(why.number("worth") == 2);
  CHECK(why.number("price") == 2.5);
  CHECK(why.number("free") == 1);
}

TEST_CASE("who holds slots is told of the larger size whose slots more are worth most each") {
  cluster::JobRow job;
  job.size_max = 8;
  job.placement = {{.node = 0, .slots = 2}};
  const core::Reason why = reason_for(job, kCurve, 2, kTerms);
  CHECK(why.code == ReasonCode::kPriceHold);
  CHECK(why.number("next") == 8);
  CHECK(why.number("worth") == Approx(5.0 / 6));
}

TEST_CASE("of the sizes that lost the least one and the next on either side are told, best first") {
  cluster::JobRow job;
  job.size_max = 8;
  job.placement = {{.node = 0, .slots = 2}};
  const auto lost = lost_for(job, kCurve, 4, {.price = 1, .free = 0, .rival = {}});
  REQUIRE(lost.size() == 3);
  CHECK(lost[0].size == 2);  // 4 - 2
  CHECK(lost[0].score == 2);
  CHECK(lost[1].size == 8);  // 9 - 8
  CHECK(lost[1].score == 1);
  CHECK(lost[2].size == 0);
  CHECK(lost[2].score == 0);
}

}  // namespace tidepool::policies::tidal
