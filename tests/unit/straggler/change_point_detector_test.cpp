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
  // As soon as the mean of some suspect window lies above its bar, then its verifying steps.
  for (const std::size_t ranks : {2U, 4U}) {
    CAPTURE(ranks);
    CHECK(healthy_crew(ranks).steps_until_named(1, times_with(ranks, 1, 1.5)) == 4 + 4);
    CHECK(healthy_crew(ranks).steps_until_named(1, times_with(ranks, 1, 1.25)) == 8 + 5);
    CHECK(healthy_crew(ranks).steps_until_named(1, times_with(ranks, 1, 1.1)) == 23 + 10);
  }
  // More than 1.5 counts no more than that: a single step may not speak for its neighbours.
  CHECK(healthy_crew(2).steps_until_named(0, times_with(2, 0, 2)) == 4 + 4);
  CHECK(healthy_crew(2).steps_until_named(0, times_with(2, 0, 4)) == 4 + 4);
}

TEST_CASE("a shift of less than a twelfth names no worker") {
  CHECK(healthy_crew(3).steps_until_named(1, times_with(3, 1, 1.08), 500) == 0);
}

TEST_CASE("a burst that is over before it is verified names no worker") {
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
    REQUIRE_FALSE(crew.any_slow());
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
  CHECK(1 / crew.of(1).bar > 1.2);
  CHECK(crew.steps_until_named(1, times_with(2, 1, 2)) > 0);
}

TEST_CASE(
    "noise of one worker's neighbours raises its bar too: a joining worker to a loud crew is not accused of luck") {
  Rng rng(11);
  const auto loud_times = [&rng] {
    std::vector<std::int64_t> times;
    for (int rank = 0; rank < 4; ++rank) times.push_back(static_cast<std::int64_t>(50'000 * (1 + 0.6 * rng.uniform())));
    return times;
  };
  JudgedCrew crew(std::make_shared<ChangePointDetector>(), 4);
  for (int i = 0; i < 1'000; ++i) crew.step(loud_times());
  const double bar = crew.of(2).bar;
  crew.replace(2);
  for (int i = 0; i < 100; ++i) crew.step(loud_times());
  CHECK(crew.of(2).bar < 1.1 * bar);
  CHECK(crew.of(2).bar < 0.93);
}

TEST_CASE("slowness that is waited out does not pass for noise") {
  // Named by the same step after one slow stretch as before it: what was judged, or named, has not been learned.
  JudgedCrew crew = healthy_crew(2, 400);
  const double bar = crew.of(1).bar;
  REQUIRE(crew.steps_until_named(1, times_with(2, 1, 1.5)) == 4 + 4);
  crew.steps(1'000, times_with(2, 1, 1.5));
  crew.steps(100, times_with(2, 1, 1));
  CHECK_FALSE(crew.any_slow());
  CHECK(crew.of(1).bar == Approx(bar).epsilon(0.02));
  CHECK(crew.steps_until_named(1, times_with(2, 1, 1.5)) <= 10);
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
  CHECK(crew.of(1).steps == 106);  // 6 of the 8 steps until it was named are counted as slow
  crew.steps(21, times_with(2, 1, 1));
  CHECK_FALSE(crew.of(1).slow);
  CHECK(crew.of(1).steps == 0);
}

TEST_CASE("a worker that has long waited for a straggler is not slow without it") {
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
