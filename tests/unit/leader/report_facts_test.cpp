#include "schedulerd/leader/report_facts.hpp"

#include <catch2/catch.hpp>

namespace tidepool::leader {
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

TEST_CASE("what a program says of itself has a bounded length in a fact") {
  const core::Worker worker{.id = WorkerId(3), .job = JobId(1)};
  const auto fact = fact_of_worker(api::CheckpointFailedMessage{.step = 4, .error = std::string(5'000, 'x')}, worker);
  REQUIRE(fact.has_value());
  CHECK(std::get<core::CheckpointFailed>(*fact).detail == std::string(1'021, 'x') + "…");
  const api::WorkerExitedReport exit{.worker = WorkerId(3), .exit_code = 1, .detail = std::string(5'000, 'x')};
  CHECK(fact_of_exit(exit).detail.size() == 1'024);
}

TEST_CASE("an agent's word says whether nothing was started; of older agents each end without code and signal does") {
  const auto told = [](const api::WorkerExitedReport& exit) { return fact_of_exit(exit).nothing_started; };
  CHECK(told({.exit_code = -1, .nothing_started = true}));
  CHECK_FALSE(told({.exit_code = -1, .nothing_started = false}));
  CHECK(told({.exit_code = -1}));
  CHECK_FALSE(told({.exit_code = -1, .signal = 9}));
  CHECK_FALSE(told({.exit_code = 1, .nothing_started = true}));
}

TEST_CASE("ready is a fact only from a worker that is starting, or tells the length of a program that was started") {
  core::Worker worker{.id = WorkerId(3), .job = JobId(1)};
  const api::FromWorker ready = api::ReadyMessage{};
  CHECK(fact_of_worker(ready, worker).has_value());
  const auto told = fact_of_worker(api::ReadyMessage{.work_steps = 300}, worker);
  REQUIRE(told.has_value());
  CHECK(std::get<core::WorkerReady>(*told).work_steps == 300);
  worker.phase = core::WorkerPhase::kMember;
  CHECK_FALSE(fact_of_worker(ready, worker).has_value());
  CHECK_FALSE(fact_of_worker(api::ReadyMessage{.work_steps = 300}, worker).has_value());
  worker.launched = 2;  // its program is started anew at each size, and tells its length when it runs
  CHECK_FALSE(fact_of_worker(ready, worker).has_value());
  CHECK(fact_of_worker(api::ReadyMessage{.work_steps = 300}, worker).has_value());
}

}  // namespace tidepool::leader
