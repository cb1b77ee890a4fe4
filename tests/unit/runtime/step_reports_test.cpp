#include <catch2/catch.hpp>

#include "workers/runtime/step_reports.hpp"

namespace tidepool::runtime {
namespace {

StepRecord record(std::int64_t step) {
  return {.generation = 2, .steps_committed = step, .samples = 10, .loss_sum = 5, .compute_us = {100, 200}};
}

}  // namespace

TEST_CASE("a message carries at most 64 steps") {
  StepReports reports;
  const TimePoint now{};
  reports.restart(now);
  for (std::int64_t step = 101; step < 164; ++step) CHECK(!reports.add(record(step), now));
  const auto message = reports.add(record(164), now + Millis{10});
  REQUIRE(message);
  CHECK(message->steps == 64);
  CHECK(message->last_step == 164);
  CHECK(message->samples == 640);
  CHECK(message->loss == 0.5);
  CHECK(message->elapsed_us == 10'000);
  CHECK(message->compute_us.size() == 128);
  CHECK(!reports.take(now));
}

TEST_CASE("a message of many ranks carries fewer steps, and fits into a line") {
  StepReports reports;
  reports.restart(TimePoint{});
  StepRecord many = record(101);
  many.compute_us.assign(4096, 9'999'999);
  std::optional<api::StepsMessage> message;
  for (; !message; ++many.steps_committed) message = reports.add(many, TimePoint{});
  CHECK(message->steps == 16);
  CHECK(api::encode(api::WorkerToAgent(*message)).size() < api::kWorkerLineBytesMax);
}

TEST_CASE("a message comes at least every 500 ms while steps commit") {
  StepReports reports;
  reports.restart(TimePoint{});
  CHECK(!reports.add(record(101), TimePoint{} + Millis{499}));
  const auto message = reports.add(record(102), TimePoint{} + Millis{500});
  REQUIRE(message);
  CHECK(message->steps == 2);
  CHECK(message->elapsed_us == 500'000);
}

TEST_CASE("the very first step is told at once, so that the loss at the start is known") {
  StepReports reports;
  reports.restart(TimePoint{});
  const auto message = reports.add(record(1), TimePoint{} + Millis{20});
  REQUIRE(message);
  CHECK(message->steps == 1);
  CHECK(!reports.add(record(2), TimePoint{} + Millis{40}));
}

}  // namespace tidepool::runtime
