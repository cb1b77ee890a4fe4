// The daemon's journal was restored from an older copy: it hands out ids again that this agent knows otherwise.
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/support/agent_actions.hpp"
#include "tests/support/agent_bench.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workers/agent/memory_tier.hpp"

namespace tidepool::agent {
namespace {

const WorkerId kAgain(1);

api::StartWorker start_at(std::int64_t started_at) {
  return {.worker = kAgain, .job = JobId(1), .slots = {0}, .program = "p", .started_at = started_at};
}

WorkerEnded end_with(int exit_code) {
  return {.worker = kAgain, .exit_code = exit_code, .signal = 0, .detail = "bye"};
}

}  // namespace

TEST_CASE("an id with another start is another worker: the old end is not told for it, and it is started") {
  AgentBench bench;
  (void)bench.join();
  (void)bench.order(start_at(100));
  const auto exit = told<api::WorkerExitedReport>(bench.tell(end_with(0)));
  REQUIRE(exit.size() == 1);
  (void)bench.order(api::ReportAck{.report = exit[0].report});
  CHECK(told<api::WorkerExitedReport>(bench.order(start_at(100))).size() == 1);  // the same order again

  const auto actions = bench.order(start_at(200));
  CHECK(told<api::WorkerExitedReport>(actions).empty());
  REQUIRE(all<ForgetWorker>(actions).size() == 1);
  REQUIRE(all<RecordStarted>(actions).size() == 1);
  CHECK(all<RecordStarted>(actions).front().started_at == 200);
  CHECK(all<SpawnWorker>(actions).size() == 1);
}

TEST_CASE("the old process is ended first, nothing more of it is told, and the new worker starts in its place") {
  AgentBench bench;
  (void)bench.join();
  (void)bench.order(start_at(100));
  const auto actions = bench.order(start_at(200));
  REQUIRE(all<SignalWorker>(actions).size() == 1);
  CHECK(all<SignalWorker>(actions).front().signal == SIGKILL);
  CHECK(all<SpawnWorker>(actions).empty());
  CHECK(all<SendToDaemon>(bench.tell(WorkerMessageReceived{kAgain, api::FinishedMessage{}})).empty());
  const auto after = bench.tell(end_with(9));
  CHECK(told<api::WorkerExitedReport>(after).empty());
  CHECK(all<ForgetWorker>(after).size() == 1);
  CHECK(all<SpawnWorker>(after).size() == 1);
}

TEST_CASE("what the daemon calls lost in its welcome is ended, and what it said is not passed on") {
  AgentBench bench;
  (void)bench.join();
  (void)bench.order(start_at(100));
  (void)bench.tell(LinkClosed{"gone"});
  (void)bench.tell(WorkerMessageReceived{kAgain, api::FinishedMessage{}});
  (void)bench.pass(Duration::seconds(3));
  const auto hello = all<SendHello>(bench.tell(LinkOpened{}));
  REQUIRE(hello.size() == 1);
  CHECK(hello[0].running == std::vector<WorkerId>{kAgain});
  CHECK(hello[0].starts == std::vector<std::int64_t>{100});
  const auto welcomed =
      bench.order(api::AgentWelcome{.node = NodeId(1), .cluster = "here", .lost = std::vector<WorkerId>{kAgain}});
  CHECK(all<SignalWorker>(welcomed).size() == 1);
  CHECK(told<api::FromWorkerReport>(welcomed).empty());
  (void)bench.order(api::StopWorker{.worker = kAgain, .grace_ms = 0});
  const auto after = bench.tell(end_with(9));
  REQUIRE(told<api::WorkerExitedReport>(after).size() == 1);  // of the new one, which was stopped before its start
  CHECK(told<api::WorkerExitedReport>(after).front().exit_code == -1);
}

TEST_CASE("the states of another job that had the id are put aside") {
  const test::TemporaryFolder folder;
  const auto states = folder.path() / "jobs" / "job-1" / "checkpoints";
  MemoryTier memory({.root = {}, .jobs = folder.path() / "jobs", .say = [](const std::string&) {}});
  memory.know_job(JobId(1), 100);
  std::filesystem::create_directories(states);
  std::ofstream(states / "state") << "of the first";
  memory.know_job(JobId(1), 100);
  CHECK(std::filesystem::exists(states / "state"));
  memory.know_job(JobId(1), 200);
  CHECK_FALSE(std::filesystem::exists(states));
  CHECK(std::filesystem::exists(folder.path() / "jobs.lost" / "job-1.100" / "checkpoints" / "state"));
}

TEST_CASE("an order or a record of an earlier version tells no start, and the id alone counts") {
  AgentBench bench({.started = {kAgain}});
  (void)bench.join();
  CHECK(all<ForgetWorker>(bench.order(start_at(100))).empty());
}

}  // namespace tidepool::agent
