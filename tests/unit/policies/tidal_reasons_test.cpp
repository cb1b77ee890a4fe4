// What tidal says of a size, in numbers that can be worked out by hand.
#include <catch2/catch.hpp>

#include "core/words/sentence.hpp"
#include "policies/tidal/reasons.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::policies::tidal {
namespace {

// A slot is worth 1 up to one, 3 up to two, 1/2 up to four, 1 up to eight.
const Curve kCurve{{0, 0}, {1, 1}, {2, 4}, {4, 5}, {8, 9}};
const Terms kTerms{.price = 2.5, .free = 1, .rival = {}};

// As many workers, as many times as fast.
class Linear final : public cluster::SpeedModel {
 public:
  [[nodiscard]] double step_seconds(cluster::Shape shape) const override { return 1.0 / shape.size; }
};

}  // namespace

TEST_CASE("a job that waits is told of the size whose slots are worth most each, and what that is") {
  cluster::JobRow job;
  job.size_max = 8;
  const core::Reason why = reason_for(job, kCurve, 0, kTerms).reason;
  CHECK(test::says<core::reason::PriceWait>(why));
  CHECK(test::number_in(why, "needed") == 2);
  CHECK(test::number_in(why, "worth") == 2);
  CHECK(test::number_in(why, "price") == 2.5);
  CHECK(test::number_in(why, "free") == 1);
}

TEST_CASE("a job that holds slots is told of the larger size whose added slots are worth most each") {
  cluster::JobRow job;
  job.size_max = 8;
  job.placement = {{.node = 0, .slots = 2}};
  const core::Reason why = reason_for(job, kCurve, 2, kTerms).reason;
  CHECK(test::says<core::reason::PriceHold>(why));
  CHECK(test::number_in(why, "next") == 8);
  CHECK(test::number_in(why, "worth") == Approx(5.0 / 6));
}

TEST_CASE("a larger size that is left out of the curve does not pay, as long as its slots are free") {
  const Linear speed;
  const core::ScalingSpec scaling;
  cluster::JobRow job;
  job.size_max = 4;
  job.largest_seen = 2;
  job.speed = &speed;
  job.scaling = &scaling;
  job.placement = {{.node = 0, .slots = 1}};
  const Curve curve{{0, 0}, {1, 1}};
  const core::Reason why = reason_for(job, curve, 1, {.price = 0, .free = 3, .rival = {}}).reason;
  CHECK(test::says<core::reason::PriceHold>(why));
  CHECK(core::sentence(why) == "keeps 1 worker: a second worker would not pay for the change");
  CHECK(
      test::says<core::reason::NoSlotsToGrow>(reason_for(job, curve, 1, {.price = 0, .free = 0, .rival = {}}).reason));
}

TEST_CASE("a job whose added slots are worth less than nothing shrinks for its own sake, not for other jobs") {
  const auto said = [](double worth, double price) {
    return core::sentence(core::reason::PriceShrink{{{.from = 4, .to = 3}, {.worth = worth, .price = price}}});
  };
  CHECK(said(-0.5, 0) == "shrinking 4 -> 3: the larger size does not pay");
  CHECK(said(-0.5, 2) == "shrinking 4 -> 3: the larger size does not pay");
  CHECK(said(0.5, 2) == "shrinking 4 -> 3: other jobs gain more from the slots");
  CHECK(said(3, 2) == "shrinking 4 -> 3: its share of the slots has become smaller");
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
