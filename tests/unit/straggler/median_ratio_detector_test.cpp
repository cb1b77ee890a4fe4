#include "straggler/median_ratio_detector.hpp"

#include <catch2/catch.hpp>

#include <cmath>

#include "base/rng.hpp"
#include "base/time.hpp"

namespace tidepool::straggler {
namespace {

constexpr std::int64_t kNormalUs = 50'000;

// Steps until `ranks` workers with a healthy past name the one that takes `slowness` times longer; 0 = not in 200.
int steps_until_named(double slowness, std::size_t ranks, std::size_t slow_rank) {
  const MedianRatioDetector detector;
  double score = 1;
  std::vector<std::int64_t> times(ranks, kNormalUs);
  std::int64_t seen = 0;
  for (; seen < MedianRatioDetector::kStepsForVerdict; ++seen) score = detector.score(score, seen, kNormalUs, times);
  times[slow_rank] = static_cast<std::int64_t>(static_cast<double>(kNormalUs) * slowness);
  for (int step = 1; step <= 200; ++step) {
    score = detector.score(score, seen++, times[slow_rank], times);
    if (detector.is_straggler(score, seen)) return step;
  }
  return 0;
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
  const MedianRatioDetector detector;
  const std::vector<std::int64_t> times{50'000, 50'000, 100'000, 50'000};
  double score = 1;
  const double expected[] = {0.950, 0.905, 0.865, 0.828, 0.795};
  for (const double row : expected) {
    score = detector.score(score, 30, 100'000, times);
    CHECK(score == Approx(row).margin(0.0006));
  }
}

TEST_CASE("of two workers only the slow one is named") {
  const MedianRatioDetector detector;
  const std::vector<std::int64_t> times{50'000, 100'000};
  double fast = 1;
  double slow = 1;
  for (std::int64_t step = 0; step < 100; ++step) {
    fast = detector.score(fast, step, times[0], times);
    slow = detector.score(slow, step, times[1], times);
  }
  CHECK_FALSE(detector.is_straggler(fast, 100));
  CHECK(detector.is_straggler(slow, 100));
}

TEST_CASE("a past as the fastest worker delays the verdict by a dozen steps at most") {
  const MedianRatioDetector detector;
  double score = 1;
  for (std::int64_t step = 0; step < 50; ++step) score = detector.score(score, step, 20'000, {20'000, 50'000, 50'000});
  int steps = 0;
  for (std::int64_t seen = 50; !detector.is_straggler(score, seen); ++seen, ++steps) {
    score = detector.score(score, seen, 100'000, {100'000, 50'000, 50'000});
  }
  CHECK(steps == 16);
}

TEST_CASE("two equal workers of a noisy machine keep scores around one") {
  const MedianRatioDetector detector;
  Rng rng(11);
  double scores[] = {1, 1};
  double sums[] = {0, 0};
  constexpr std::int64_t kSteps = 20'000;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    std::vector<std::int64_t> times;
    for (int rank = 0; rank < 2; ++rank)
      times.push_back(static_cast<std::int64_t>(20'000 * std::exp(0.4 * rng.normal())));
    for (std::size_t rank = 0; rank < 2; ++rank) {
      scores[rank] = detector.score(scores[rank], step, times[rank], times);
      sums[rank] += scores[rank];
    }
  }
  CHECK(sums[0] / kSteps > 1.0);
  CHECK(sums[1] / kSteps > 1.0);
}

TEST_CASE("a newcomer's slow first step is forgiven by the time a verdict is possible") {
  const MedianRatioDetector detector;
  double score = detector.score(1, 0, 500'000, {500'000, 50'000, 50'000});
  CHECK(score == Approx(0.1));
  std::int64_t seen = 1;
  bool named = detector.is_straggler(score, seen);
  for (; seen < 60; ++seen) {
    score = detector.score(score, seen, 50'000, {50'000, 50'000, 50'000});
    named = named || detector.is_straggler(score, seen + 1);
  }
  CHECK_FALSE(named);
}

TEST_CASE("noise of a tenth never names a healthy worker in ten thousand steps") {
  const MedianRatioDetector detector;
  Rng rng(7);
  double score = 1;
  for (std::int64_t step = 0; step < 10'000; ++step) {
    std::vector<std::int64_t> times;
    for (int rank = 0; rank < 4; ++rank) {
      times.push_back(static_cast<std::int64_t>(50'000 * (1 + 0.1 * rng.normal()) + 1));
    }
    score = detector.score(score, step, times[3], times);
    REQUIRE_FALSE(detector.is_straggler(score, step + 1));
  }
}

TEST_CASE("a step that says nothing leaves the score as it was") {
  const MedianRatioDetector detector;
  CHECK(detector.score(0.9, 30, 50'000, {50'000}) == 0.9);
  CHECK(detector.score(0.9, 30, 0, {0, 50'000}) == 0.9);
  CHECK(detector.score(0.9, 30, 50'000, {50'000, 0}) == 0.9);
  CHECK(detector.score(0.3, 0, 50'000, {50'000}) == 1.0);
}

}  // namespace
}  // namespace tidepool::straggler
