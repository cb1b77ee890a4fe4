#include "straggler/z_score_detector.hpp"

#include <catch2/catch.hpp>

#include "tests/support/judged_crew.hpp"

namespace tidepool::straggler {
namespace {

using test::JudgedCrew;
using test::times_with;

JudgedCrew healthy_crew(std::size_t ranks) {
  JudgedCrew crew(std::make_shared<ZScoreDetector>(), ranks);
  crew.steps(40, times_with(ranks, 0, 1));
  return crew;
}

TEST_CASE("on a silent machine the bar is 3.5 deviations of two per cent") {
  JudgedCrew crew = healthy_crew(3);
  CHECK(1 / crew.of(0).bar == Approx(1 + 3.5 * 1.4826 * 0.02));  // 1.1038
  CHECK(healthy_crew(3).steps_until_named(1, times_with(3, 1, 1.10)) == 0);
  // The median of nine moves with the fifth slow step.
  CHECK(healthy_crew(3).steps_until_named(1, times_with(3, 1, 1.11)) == 5);
  CHECK(healthy_crew(2).steps_until_named(0, times_with(2, 0, 4)) == 5);
}

TEST_CASE("the spread over steps lifts the bar") {
  // Rank 1 is 10 % slower and 10 % faster in turn: its MAD over steps is about 0.1, the others' is below.
  JudgedCrew crew(std::make_shared<ZScoreDetector>(), 2);
  for (int i = 0; i < 40; ++i) crew.step({50'000, i % 2 == 0 ? 55'000 : 45'000});
  // Relative times of rank 1: 1.1 and 0.9, MAD 0.1; of rank 0: 1/1.1 and 1/0.9, MAD 0.101. Their mean: 0.1005.
  CHECK(1 / crew.of(0).bar == Approx(1 + 3.5 * 1.4826 * 0.1005).epsilon(0.001));
}

TEST_CASE("the spread over ranks lifts the bar from four ranks on") {
  JudgedCrew crew(std::make_shared<ZScoreDetector>(), 4);
  // Relative to the others' median: 0.9, 0.95 (of 47.5, 50, 52.5: 50 ...): computed below by hand.
  crew.steps(40, {45'000, 47'500, 52'500, 55'000});
  // 45/52.5, 47.5/52.5, 52.5/47.5, 55/47.5: distances from one 0.1429, 0.0952, 0.1053, 0.1579; median 0.1241.
  CHECK(1 / crew.of(3).bar == Approx(1 + 3.5 * 1.4826 * 0.12406).epsilon(0.001));
  CHECK_FALSE(crew.any_slow());
}

TEST_CASE("a straggler stays named while its own past leaves the window") {
  JudgedCrew crew = healthy_crew(2);
  REQUIRE(crew.steps_until_named(1, times_with(2, 1, 1.5)) == 5);
  for (int i = 0; i < 100; ++i) {
    CAPTURE(i);
    REQUIRE(crew.step(times_with(2, 1, 1.5))[1].slow);
  }
  CHECK(crew.of(1).steps == 105);
  crew.steps(9, times_with(2, 1, 1));
  CHECK_FALSE(crew.of(1).slow);
}

TEST_CASE("a joining worker is not named in its first twenty steps") {
  JudgedCrew crew = healthy_crew(3);
  crew.replace(2);
  CHECK(crew.steps_until_named(2, times_with(3, 2, 3)) == ZScoreDetector::kStepsForVerdict);
}

}  // namespace
}  // namespace tidepool::straggler
