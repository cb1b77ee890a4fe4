#include "schedulerd/live/report_facts.hpp"

#include <catch2/catch.hpp>

namespace tidepool::live {
namespace {

api::AgentHello hello() {
  return {.token = "", .node = "local", .slots = 4, .slot_type = "cpu", .price_per_slot_hour = "1.00", .running = {}};
}

}  // namespace

TEST_CASE("a hello becomes a node with its price") {
  const auto fact = fact_of_hello(hello(), NodeId(1));
  REQUIRE(fact.ok());
  const auto& joined = std::get<core::NodeJoined>(*fact);
  CHECK(joined.slots == 4);
  CHECK(joined.price_per_slot_hour == Money::micros(1'000'000));
}

TEST_CASE("a hello that makes no sense is refused in words") {
  auto bad = hello();
  bad.node = "a b";
  CHECK_FALSE(fact_of_hello(bad, NodeId(1)).ok());
  bad = hello();
  bad.slots = 0;
  CHECK_FALSE(fact_of_hello(bad, NodeId(1)).ok());
  bad = hello();
  bad.price_per_slot_hour = "-1";
  CHECK_FALSE(fact_of_hello(bad, NodeId(1)).ok());
}

TEST_CASE("ready is a fact only from a worker that is starting") {
  core::Worker worker{.id = WorkerId(3), .job = JobId(1)};
  const api::FromWorker ready = api::ReadyMessage{};
  CHECK(fact_of_worker(ready, worker).has_value());
  worker.phase = core::WorkerPhase::kMember;
  CHECK_FALSE(fact_of_worker(ready, worker).has_value());
}

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

}  // namespace tidepool::live
