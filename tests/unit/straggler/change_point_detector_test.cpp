#include "straggler/change_point_detector.hpp"

#include <catch2/catch.hpp>

#include "base/rng.hpp"
#include "tests/support/judged_crew.hpp"

namespace tidepool::straggler {
namespace {

using test::JudgedCrew;
using test::times_with;

JudgedCrew healthy_crew(std::size_t ranks, int past = 200) {
  JudgedCrew crew(std::make_shared<ChangePointDetector>(), ranks);
  crew.steps(past, times_with(ranks, 0, 1));
  return crew;
}

TEST_CASE("on a silent machine a shift is named when its window is verified") {
  // As soon as the suspect window's median lies above the bar, then the verify window.
  for (const std::size_t ranks : {2U, 4U}) {
    CAPTURE(ranks);
    CHECK(healthy_crew(ranks).steps_until_named(1, times_with(ranks, 1, 1.5)) == 3 + 5);
    CHECK(healthy_crew(ranks).steps_until_named(1, times_with(ranks, 1, 1.25)) == 5 + 13);
    CHECK(healthy_crew(ranks).steps_until_named(1, times_with(ranks, 1, 1.1)) == 11 + 31);
  }
  // At twice the time two of four steps lift their median to 1.5.
  CHECK(healthy_crew(2).steps_until_named(0, times_with(2, 0, 2)) == 2 + 5);
  CHECK(healthy_crew(2).steps_until_named(0, times_with(2, 0, 4)) == 2 + 5);
}

TEST_CASE("a shift of less than a twelfth is nobody's fault") {
  CHECK(healthy_crew(3).steps_until_named(1, times_with(3, 1, 1.08), 500) == 0);
}

TEST_CASE("a burst that is over before it is verified names nobody") {
  JudgedCrew crew = healthy_crew(2);
  for (int burst = 0; burst < 20; ++burst) {
    CHECK(crew.steps_until_named(1, times_with(2, 1, 3), 4) == 0);
    CHECK(crew.steps_until_named(1, times_with(2, 1, 1), 60) == 0);
  }
}

TEST_CASE("a single stalled step in ten says nothing about a worker's pace") {
  JudgedCrew crew = healthy_crew(2);
  for (int i = 0; i < 2'000; ++i) {
    crew.step(times_with(2, 1, i % 10 == 0 ? 20 : 1));
    REQUIRE_FALSE(crew.anybody_slow());
  }
}

TEST_CASE("the bar rises with the noise of the worker's own windows") {
  JudgedCrew crew(std::make_shared<ChangePointDetector>(), 2);
  Rng rng(3);
  // Slow and fast stretches of 40 steps, 10 % to each side: noise that lasts, and that a median does not remove.
  for (int i = 0; i < 8'000; ++i) {
    const double swing = (i / 40) % 2 == 0 ? 1.1 : 0.9;
    crew.step(times_with(2, 1, swing * (1 + 0.01 * rng.normal())));
    if (i > 2'000) REQUIRE_FALSE(crew.of(1).slow);
  }
  CHECK(1 / crew.of(1).bar > 1.4);
  CHECK(crew.steps_until_named(1, times_with(2, 1, 2)) > 0);
}

TEST_CASE("a worker that is slow from its first step is named, though it has no healthy past") {
  JudgedCrew crew = healthy_crew(3);
  crew.replace(2);
  const int steps = crew.steps_until_named(2, times_with(3, 2, 1.3));
  CHECK(steps >= ChangePointDetector::kStepsForVerdict);
  CHECK(steps <= 60);
}

TEST_CASE("a name is withdrawn when the worker is as fast as the others again") {
  JudgedCrew crew = healthy_crew(2);
  REQUIRE(crew.steps_until_named(1, times_with(2, 1, 1.5)) > 0);
  crew.steps(100, times_with(2, 1, 1.5));
  CHECK(crew.of(1).slow);
  CHECK(crew.of(1).speed == Approx(1 / 1.5));
  CHECK(crew.of(1).steps == 107);  // 7 of the 8 steps until it was named are counted as slow
  crew.steps(16, times_with(2, 1, 1));
  CHECK_FALSE(crew.of(1).slow);
  CHECK(crew.of(1).steps == 0);
}

TEST_CASE("who has long waited for a straggler is not slow without it") {
  // At 1.1 a level that followed would settle at 0.91 with no noise left, and the usual time would lie above its bar;
  // at 1.3 there is time for the level to come down as far as it may, and for its noise to be forgotten after that.
  for (const double slowness : {1.1, 1.3, 2.0}) {
    CAPTURE(slowness);
    JudgedCrew crew = healthy_crew(2);
    crew.steps(9'000, times_with(2, 1, slowness));
    crew.replace(1);
    for (int i = 0; i < 4'000; ++i) {
      crew.step(times_with(2, 1, 1));
      REQUIRE_FALSE(crew.of(0).slow);
    }
  }
}

}  // namespace
}  // namespace tidepool::straggler
