#include "straggler/median_ratio_detector.hpp"

#include <catch2/catch.hpp>

#include <cmath>

#include "base/rng.hpp"
#include "tests/support/judged_crew.hpp"

namespace tidepool::straggler {
namespace {

using test::JudgedCrew;
using test::times_with;

JudgedCrew healthy_crew(std::size_t ranks, int past = MedianRatioDetector::kStepsForVerdict) {
  JudgedCrew crew(std::make_shared<MedianRatioDetector>(), ranks);
  crew.steps(past, times_with(ranks, 0, 1));
  return crew;
}

int steps_until_named(double slowness, std::size_t ranks, std::size_t slow_rank) {
  return healthy_crew(ranks).steps_until_named(slow_rank, times_with(ranks, slow_rank, slowness));
}

TEST_CASE("a healthy worker that turns slow is named as fast as the paper's rule allows") {
  for (const std::size_t ranks : {2U, 3U, 4U, 8U}) {
    CAPTURE(ranks);
    CHECK(steps_until_named(4, ranks, 1) == 3);
    CHECK(steps_until_named(2, ranks, 1) == 5);
    CHECK(steps_until_named(1.5, ranks, 1) == 9);
    CHECK(steps_until_named(1.333, ranks, 1) == 16);
    CHECK(steps_until_named(1.3, ranks, 1) == 20);
  }
}

TEST_CASE("a worker at most a quarter slower is never named") {
  CHECK(steps_until_named(1.25, 4, 1) == 0);
  CHECK(steps_until_named(1.1, 2, 1) == 0);
}

TEST_CASE("rank 0 is not exempt") {
  CHECK(steps_until_named(2, 4, 0) == 5);
}

TEST_CASE("the scores of the worked example in the README are right") {
  JudgedCrew crew = healthy_crew(4, 30);
  const double expected[] = {0.950, 0.905, 0.865, 0.828, 0.795};
  for (const double row : expected) CHECK(crew.step(times_with(4, 2, 2))[2].speed == Approx(row).margin(0.0006));
  CHECK(crew.of(2).slow);
  CHECK(crew.of(2).steps == 5);
  CHECK(crew.of(2).bar == 0.8);
}

TEST_CASE("of two workers only the slow one is named") {
  JudgedCrew crew(std::make_shared<MedianRatioDetector>(), 2);
  crew.steps(100, {50'000, 100'000});
  CHECK_FALSE(crew.of(0).slow);
  CHECK(crew.of(1).slow);
}

TEST_CASE("a past as the fastest worker delays the verdict by a dozen steps at most") {
  JudgedCrew crew(std::make_shared<MedianRatioDetector>(), 3);
  crew.steps(50, {20'000, 50'000, 50'000});
  CHECK(crew.steps_until_named(0, {100'000, 50'000, 50'000}) == 16);
}

TEST_CASE("two equal workers of a noisy machine keep scores around one") {
  JudgedCrew crew(std::make_shared<MedianRatioDetector>(), 2);
  Rng rng(11);
  double sums[] = {0, 0};
  constexpr std::int64_t kSteps = 20'000;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    std::vector<std::int64_t> times;
    for (int rank = 0; rank < 2; ++rank)
      times.push_back(static_cast<std::int64_t>(20'000 * std::exp(0.4 * rng.normal())));
    crew.step(times);
    for (std::size_t rank = 0; rank < 2; ++rank) sums[rank] += crew.of(rank).speed;
  }
  CHECK(sums[0] / kSteps > 1.0);
  CHECK(sums[1] / kSteps > 1.0);
}

TEST_CASE("a joining worker's slow first step is forgiven by the time a verdict is possible") {
  JudgedCrew crew(std::make_shared<MedianRatioDetector>(), 3);
  crew.step({500'000, 50'000, 50'000});
  CHECK(crew.of(0).speed == Approx(0.1));
  CHECK(crew.steps_until_named(0, {50'000, 50'000, 50'000}, 60) == 0);
}

TEST_CASE("noise of a tenth never names a healthy worker in ten thousand steps") {
  JudgedCrew crew(std::make_shared<MedianRatioDetector>(), 4);
  Rng rng(7);
  for (int step = 0; step < 10'000; ++step) {
    std::vector<std::int64_t> times;
    for (int rank = 0; rank < 4; ++rank) {
      times.push_back(static_cast<std::int64_t>(50'000 * (1 + 0.1 * rng.normal()) + 1));
    }
    crew.step(times);
    REQUIRE_FALSE(crew.any_slow());
  }
}

TEST_CASE("a step that says nothing leaves the score as it was") {
  JudgedCrew crew = healthy_crew(2);
  crew.steps(5, {50'000, 100'000});
  const double before = crew.of(1).speed;
  CHECK(crew.step({50'000, 0})[1].speed == before);
  CHECK(crew.step({0, 50'000})[1].slow == crew.of(1).slow);
  JudgedCrew alone(std::make_shared<MedianRatioDetector>(), 1);
  CHECK(alone.step({50'000})[0].speed == 1);
}

}  // namespace
}  // namespace tidepool::straggler
