// Which pulses make a worker stuck, and whose records an agent keeps: facts in, actions out.
#include <catch2/catch.hpp>
#include <csignal>

#include "tests/support/agent_actions.hpp"
#include "tests/support/agent_bench.hpp"

namespace tidepool::agent {
namespace {

using api::PulsePhase;

const WorkerId kFirst(1);
const WorkerId kSecond(2);

RecordedWorkers with_two_workers() {
  RecordedWorkers history;
  history.cluster = "here";
  history.started = {kFirst, kSecond};
  return history;
}

// An agent whose two workers live and pulse.
struct StuckBench : AgentBench {
  StuckBench() : AgentBench(with_two_workers()) { (void)join(); }

  std::vector<Action> pulse(WorkerId worker, std::int64_t step, PulsePhase phase,
                            std::int64_t stuck_after_ms = 60'000) {
    return tell(WorkerPulseReceived{worker, {.step = step, .phase = phase, .stuck_after_ms = stuck_after_ms}});
  }
  // As the loop does: it wakes at each deadline on the way.
  std::vector<Action> wait(Duration time) {
    std::vector<Action> all;
    const Instant end = now + time;
    while (now < end) {
      now = std::min(end, std::max(now, state.deadline().value_or(end)));
      for (auto& action : tell(TimePassed{})) all.push_back(std::move(action));
      if (state.deadline().value_or(end) <= now) break;
    }
    now = end;
    return all;
  }
};

std::vector<api::WorkerStuckReport> stuck(const std::vector<Action>& actions) {
  return told<api::WorkerStuckReport>(actions);
}

}  // namespace

TEST_CASE("a worker that computes at one step for longer than it may is told once") {
  StuckBench bench;
  std::vector<Action> actions;
  for (int second = 0; second < 70; ++second) {
    for (auto& action : bench.pulse(kFirst, 7, PulsePhase::kComputing)) actions.push_back(std::move(action));
    for (auto& action : bench.pulse(kSecond, 7, PulsePhase::kReducing)) actions.push_back(std::move(action));
    for (auto& action : bench.wait(Duration::seconds(1))) actions.push_back(std::move(action));
  }
  const auto reports = stuck(actions);
  REQUIRE(reports.size() == 1);  // and not the one that waits for it in the sum
  CHECK(reports[0].worker == kFirst);
  CHECK(reports[0].step == 7);
  CHECK(reports[0].phase == PulsePhase::kComputing);
  CHECK(reports[0].for_ms == 60'000);
}

TEST_CASE("a worker that makes steps, however slow, is not stuck") {
  StuckBench bench;
  for (int step = 0; step < 10; ++step) {
    for (int second = 0; second < 50; ++second) {
      CHECK(stuck(bench.pulse(kFirst, step, PulsePhase::kComputing)).empty());
      CHECK(stuck(bench.wait(Duration::seconds(1))).empty());
    }
  }
}

TEST_CASE("a step that begins after a long evaluation has its own time") {
  StuckBench bench;
  const auto lives = [&](int seconds, std::int64_t stuck_after_ms) {
    std::size_t told = 0;
    for (int second = 0; second < seconds; ++second) {
      told += stuck(bench.pulse(kFirst, 8, PulsePhase::kComputing, stuck_after_ms)).size();
      told += stuck(bench.wait(Duration::seconds(1))).size();
    }
    return told;
  };
  CHECK(lives(90, 600'000) == 0);  // after a commit
  CHECK(lives(59, 60'000) == 0);   // in the step that follows
  CHECK(lives(2, 60'000) == 1);
}

TEST_CASE("a worker whose pulse stops is told, and again only after it has come back") {
  StuckBench bench;
  (void)bench.pulse(kFirst, 3, PulsePhase::kReducing);
  CHECK(stuck(bench.wait(Duration::millis(9'900))).empty());
  const auto reports = stuck(bench.wait(Duration::millis(200)));
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].phase == PulsePhase::kReducing);
  CHECK(reports[0].for_ms >= 10'000);
  CHECK(stuck(bench.wait(Duration::seconds(60))).empty());
  (void)bench.pulse(kFirst, 4, PulsePhase::kComputing);
  CHECK(stuck(bench.wait(Duration::seconds(11))).size() == 1);
}

TEST_CASE("a worker that has never pulsed, or has hung up by itself, is not watched") {
  StuckBench bench;
  (void)bench.pulse(kFirst, 3, PulsePhase::kComputing);
  (void)bench.tell(WorkerHungUp{kFirst});
  CHECK(stuck(bench.wait(Duration::seconds(3'600))).empty());
}

TEST_CASE("an agent that was itself stopped does not blame its workers") {
  StuckBench bench;
  (void)bench.pulse(kFirst, 3, PulsePhase::kReducing);
  bench.now = bench.now + Duration::seconds(600);
  CHECK(stuck(bench.tell(TimePassed{})).empty());
  CHECK(stuck(bench.pulse(kFirst, 3, PulsePhase::kReducing)).empty());
}

TEST_CASE("a worker that got stuck while no daemon listened is told to the next one") {
  StuckBench bench;
  (void)bench.pulse(kFirst, 3, PulsePhase::kReducing);
  (void)bench.tell(LinkClosed{"gone"});
  CHECK(stuck(bench.wait(Duration::seconds(15))).empty());
  CHECK(stuck(bench.join()).size() == 1);
}

TEST_CASE("workers of another cluster are ended before this node joins a new one, and their records forgotten") {
  StuckBench bench;
  (void)bench.tell(LinkClosed{"gone"});
  const auto first = bench.join("there");
  CHECK(all<SignalWorker>(first).size() == 2);
  REQUIRE(all<CloseLink>(first).size() == 1);
  CHECK_THAT(all<CloseLink>(first)[0].why, Catch::Contains("2 workers of cluster here"));
  CHECK(all<ForgetRecords>(first).empty());
  (void)bench.tell(LinkClosed{"as asked"});
  for (const WorkerId worker : {kFirst, kSecond}) {
    CHECK(all<SendToDaemon>(bench.tell(WorkerEnded{.worker = worker, .signal = SIGKILL})).empty());
  }
  const auto second = bench.join("there");
  REQUIRE(all<ForgetRecords>(second).size() == 1);
  CHECK(all<ForgetRecords>(second)[0].cluster == "here");
  CHECK(all<CloseLink>(second).size() == 1);  // its hello named workers that mean nothing there
  (void)bench.tell(LinkClosed{"as asked"});
  const auto third = bench.join("there");
  REQUIRE(all<RecordCluster>(third).size() == 1);
  CHECK(all<RecordCluster>(third)[0].cluster == "there");
  CHECK(all<SendToDaemon>(third).empty());  // no exit of a worker that this daemon never started
  // The same id is a new worker now.
  const auto started =
      bench.tell(DaemonMessageReceived{api::StartWorker{.worker = kFirst, .job = JobId(1), .program = "p"}});
  CHECK(all<SpawnWorker>(started).size() == 1);
}

TEST_CASE("a cluster that could not be the name of a folder is refused") {
  StuckBench bench;
  (void)bench.tell(LinkClosed{"gone"});
  for (const char* name : {"", "../x", "a/b", "a b"}) {
    const auto welcomed = bench.join(name);
    REQUIRE(all<CloseLink>(welcomed).size() == 1);
    CHECK(all<RecordCluster>(welcomed).empty());
    (void)bench.tell(LinkClosed{"as asked"});
  }
}

}  // namespace tidepool::agent
