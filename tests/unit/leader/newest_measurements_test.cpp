#include "schedulerd/leader/newest_measurements.hpp"

#include <catch2/catch.hpp>

namespace tidepool::leader {

TEST_CASE("a report of steps becomes a measurement with each rank's mean compute time") {
  const core::StepsMeasured steps{.job = JobId(1),
                                  .generation = 2,
                                  .last_step = 12,
                                  .steps = 2,
                                  .elapsed = Duration::millis(100),
                                  .samples = 50,
                                  .loss = 1.5,
                                  .epoch = 1,
                                  .compute_us = {10'000, 20'000, 30'000, 40'000},
                                  .global_batch = 25,
                                  .noise_scale = 40.5};
  const MetricPoint point = metric_of(steps, 2, Instant::from_micros(5));
  CHECK(point.samples_per_second == Approx(500));
  CHECK(point.step_ms == Approx(50));
  REQUIRE(point.compute_ms.size() == 2);
  CHECK(point.compute_ms[0] == Approx(20));
  CHECK(point.compute_ms[1] == Approx(30));
  CHECK(point.global_batch == 25);
  CHECK(point.noise_scale == 40.5);
}

TEST_CASE("a report with fewer compute times than steps has none of any rank") {
  core::StepsMeasured steps{.job = JobId(1), .last_step = 4, .steps = 2, .elapsed = Duration::millis(100)};
  steps.compute_us = {1};
  CHECK(metric_of(steps, 2, Instant()).compute_ms.empty());
}

}  // namespace tidepool::leader
