// What an agent does about a saved state that its worker waits for: asks, fetches, asks again, and gives up.
#include <catch2/catch.hpp>

#include "tests/support/agent_actions.hpp"
#include "tests/support/agent_bench.hpp"

namespace tidepool::agent {
namespace {

const WorkerId kW1(1);
const JobId kWaitingJob(3);

struct Bench : AgentBench {
  std::vector<Action> start(WorkerId worker = kW1) {
    return order(api::StartWorker{.worker = worker, .job = kWaitingJob, .program = "p", .state_step = 40});
  }
  static api::FetchState place() {
    return {.job = kWaitingJob, .step = 40, .ticket = "t", .host = "10.0.0.1", .port = 1, .key = "k"};
  }
};

TEST_CASE("a worker that waits for a state starts when it is here, after the daemon has been told") {
  Bench bench;
  (void)bench.join();
  const auto held = bench.start();
  CHECK(all<SpawnWorker>(held).empty());
  CHECK(all<RecordStarted>(held).empty());  // so that another agent of this node is told again
  REQUIRE(all<AskForState>(held).size() == 1);
  CHECK(all<AskForState>(held)[0].step == 40);
  CHECK(all<AskForState>(bench.start()).empty());  // said twice
  const auto fetch = bench.order(Bench::place());
  REQUIRE(all<FetchSavedState>(fetch).size() == 1);
  CHECK(all<FetchSavedState>(bench.order(Bench::place())).empty());  // one at a time
  const auto here = bench.tell(StateIsHere{kWaitingJob, 40, 4'096});
  REQUIRE(told<api::StateBroughtReport>(here).size() == 1);
  REQUIRE(all<SpawnWorker>(here).size() == 1);
  CHECK(std::holds_alternative<SendToDaemon>(here.front()));
}

TEST_CASE(
    "an attempt that breaks is followed by another as long as bytes come, and by a start without the state then") {
  Bench bench;
  (void)bench.join();
  (void)bench.start();
  for (int attempt = 0; attempt < 5; ++attempt) {
    (void)bench.order(Bench::place());
    (void)bench.pass(Duration::seconds(20));
    (void)bench.tell(StateBytesCame{kWaitingJob});
    (void)bench.tell(StateFetchBroke{kWaitingJob, "cable"});
    CHECK(all<AskForState>(bench.pass(kAskForStateAgain)).size() == 1);
  }
  (void)bench.order(Bench::place());
  CHECK(all<SpawnWorker>(bench.pass(kStateSilence - kAskForStateAgain - Duration::seconds(1))).empty());
  const auto left = bench.pass(Duration::seconds(1));
  REQUIRE(told<api::StateLeftReport>(left).size() == 1);
  CHECK(told<api::StateLeftReport>(left)[0].why.find("cable") != std::string::npos);
  CHECK(all<AbandonFetch>(left).size() == 1);
  CHECK(all<SpawnWorker>(left).size() == 1);
  CHECK(all<SpawnWorker>(bench.tell(StateIsHere{kWaitingJob, 40, 1})).empty());
}

TEST_CASE("a word that is final ends the wait at once, and one that is not asks again") {
  Bench bench;
  (void)bench.join();
  (void)bench.start();
  CHECK(all<SpawnWorker>(bench.order(api::NoState{kWaitingJob, 40, "away", false})).empty());
  CHECK(all<AskForState>(bench.pass(kAskForStateAgain)).size() == 1);
  CHECK(all<SpawnWorker>(bench.order(api::NoState{kWaitingJob, 39, "another", true})).empty());
  const auto left = bench.order(api::NoState{kWaitingJob, 40, "gone", true});
  CHECK(told<api::StateLeftReport>(left)[0].why == "gone");
  CHECK(all<SpawnWorker>(left).size() == 1);
}

TEST_CASE("what became of a state is told again after each welcome while its worker lives") {
  Bench bench;
  (void)bench.join();
  (void)bench.start();
  (void)bench.tell(StateIsHere{kWaitingJob, 40, 4'096});
  (void)bench.tell(LinkClosed{"cut"});
  CHECK(told<api::StateBroughtReport>(bench.join()).size() == 1);
  (void)bench.tell(WorkerEnded{.worker = kW1, .exit_code = 0});
  (void)bench.tell(LinkClosed{"cut"});
  CHECK(told<api::StateBroughtReport>(bench.join()).empty());
}

TEST_CASE("orders end with their link, what is fetched goes on, and an order that is said again finds it") {
  Bench bench;
  (void)bench.join();
  (void)bench.start();
  (void)bench.order(Bench::place());
  (void)bench.tell(LinkClosed{"cut"});
  (void)bench.pass(Duration::seconds(300));
  const auto welcomed = bench.join();
  CHECK(all<SpawnWorker>(welcomed).empty());
  CHECK(all<AskForState>(bench.start()).empty());  // it is still being fetched
  CHECK(all<SpawnWorker>(bench.tell(StateIsHere{kWaitingJob, 40, 1})).size() == 1);
}

TEST_CASE("a worker that is not ordered again after a link was lost is not started, and its state is dropped") {
  Bench bench;
  (void)bench.join();
  (void)bench.start();
  (void)bench.order(Bench::place());
  (void)bench.tell(LinkClosed{"cut"});
  (void)bench.join();
  CHECK(all<SpawnWorker>(bench.tell(StateIsHere{kWaitingJob, 40, 1})).empty());
  const auto dropped = bench.pass(kOrdersAgain);
  CHECK(all<AbandonFetch>(dropped).size() == 1);
  CHECK(all<SpawnWorker>(dropped).empty());
}

TEST_CASE("a worker that is stopped while it waits has an end, and the fetch ends with the last that waits") {
  Bench bench;
  (void)bench.join();
  (void)bench.start(kW1);
  (void)bench.start(WorkerId(2));
  (void)bench.order(Bench::place());
  const auto first = bench.order(api::StopWorker{.worker = kW1});
  CHECK(told<api::WorkerExitedReport>(first).size() == 1);
  CHECK(all<AbandonFetch>(first).empty());
  CHECK(all<AbandonFetch>(bench.order(api::StopWorker{.worker = WorkerId(2)})).size() == 1);
  CHECK(all<SpawnWorker>(bench.tell(StateIsHere{kWaitingJob, 40, 1})).empty());
}

}  // namespace
}  // namespace tidepool::agent
