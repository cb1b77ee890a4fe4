// Which pulses make a worker stuck, and whose records an agent keeps: facts in, actions out.
#include <catch2/catch.hpp>
#include <csignal>

#include "tests/support/agent_actions.hpp"

namespace tidepool::agent {
namespace {

using api::PulsePhase;

const WorkerId kW1(1);
const WorkerId kW2(2);

// An agent whose two workers live and pulse, under a clock that the test turns.
struct Bench {
  Bench() {
    History history;
    history.cluster = "here";
    history.started = {kW1, kW2};
    state.emplace(AgentTimes{}, history, 1, now);
    join("here");
  }
  void join(const std::string& cluster) {
    (void)tell(TimePassed{});
    (void)tell(LinkOpened{});
    welcome = tell(DaemonSaid{api::AgentWelcome{.node = NodeId(1), .heartbeat_ms = 1'000, .cluster = cluster}});
  }
  std::vector<Action> tell(Fact fact) { return state->step(now, std::move(fact)); }
  std::vector<Action> pulse(WorkerId worker, std::int64_t step, PulsePhase phase,
                            std::int64_t stuck_after_ms = 60'000) {
    return tell(WorkerPulsed{worker, {.step = step, .phase = phase, .stuck_after_ms = stuck_after_ms}});
  }
  // As the loop does: it wakes at each deadline on the way.
  std::vector<Action> pass(Duration time) {
    std::vector<Action> all;
    const Instant end = now + time;
    while (now < end) {
      now = std::min(end, std::max(now, state->deadline().value_or(end)));
      for (auto& action : tell(TimePassed{})) all.push_back(std::move(action));
      if (state->deadline().value_or(end) <= now) break;
    }
    now = end;
    return all;
  }

  Instant now = Instant::from_micros(1'000'000);
  std::optional<AgentState> state;
  std::vector<Action> welcome;
};

std::vector<api::WorkerStuckReport> stuck(const std::vector<Action>& actions) {
  return told<api::WorkerStuckReport>(actions);
}

}  // namespace

TEST_CASE("a worker that computes at one step for longer than it may is told once") {
  Bench bench;
  std::vector<Action> actions;
  for (int second = 0; second < 70; ++second) {
    for (auto& action : bench.pulse(kW1, 7, PulsePhase::kComputing)) actions.push_back(std::move(action));
    for (auto& action : bench.pulse(kW2, 7, PulsePhase::kReducing)) actions.push_back(std::move(action));
    for (auto& action : bench.pass(Duration::seconds(1))) actions.push_back(std::move(action));
  }
  const auto reports = stuck(actions);
  REQUIRE(reports.size() == 1);  // and not the one that waits for it in the sum
  CHECK(reports[0].worker == kW1);
  CHECK(reports[0].step == 7);
  CHECK(reports[0].phase == PulsePhase::kComputing);
  CHECK(reports[0].for_ms == 60'000);
}

TEST_CASE("a worker that makes steps, however slow, is not stuck") {
  Bench bench;
  for (int step = 0; step < 10; ++step) {
    for (int second = 0; second < 50; ++second) {
      CHECK(stuck(bench.pulse(kW1, step, PulsePhase::kComputing)).empty());
      CHECK(stuck(bench.pass(Duration::seconds(1))).empty());
    }
  }
}

TEST_CASE("a worker whose pulse stops is told, and again only after it has come back") {
  Bench bench;
  (void)bench.pulse(kW1, 3, PulsePhase::kReducing);
  CHECK(stuck(bench.pass(Duration::millis(9'900))).empty());
  const auto reports = stuck(bench.pass(Duration::millis(200)));
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].phase == PulsePhase::kReducing);
  CHECK(reports[0].for_ms >= 10'000);
  CHECK(stuck(bench.pass(Duration::seconds(60))).empty());
  (void)bench.pulse(kW1, 4, PulsePhase::kComputing);
  CHECK(stuck(bench.pass(Duration::seconds(11))).size() == 1);
}

TEST_CASE("a worker that has never pulsed, or has hung up by itself, is not watched") {
  Bench bench;
  (void)bench.pulse(kW1, 3, PulsePhase::kComputing);
  (void)bench.tell(WorkerHungUp{kW1});
  CHECK(stuck(bench.pass(Duration::seconds(3'600))).empty());
}

TEST_CASE("an agent that was itself stopped does not blame its workers") {
  Bench bench;
  (void)bench.pulse(kW1, 3, PulsePhase::kReducing);
  bench.now = bench.now + Duration::seconds(600);
  CHECK(stuck(bench.tell(TimePassed{})).empty());
  CHECK(stuck(bench.pulse(kW1, 3, PulsePhase::kReducing)).empty());
}

TEST_CASE("a worker that got stuck while no daemon listened is told to the next one") {
  Bench bench;
  (void)bench.pulse(kW1, 3, PulsePhase::kReducing);
  (void)bench.tell(LinkClosed{"gone"});
  CHECK(stuck(bench.pass(Duration::seconds(15))).empty());
  bench.join("here");
  CHECK(stuck(bench.welcome).size() == 1);
}

TEST_CASE("workers of another cluster are ended before this node joins a new one, and their records forgotten") {
  Bench bench;
  (void)bench.tell(LinkClosed{"gone"});
  (void)bench.pass(Duration::seconds(3));
  bench.join("there");
  CHECK(all<SignalWorker>(bench.welcome).size() == 2);
  REQUIRE(all<CloseLink>(bench.welcome).size() == 1);
  CHECK_THAT(all<CloseLink>(bench.welcome)[0].why, Catch::Contains("2 workers of cluster here"));
  CHECK(all<ForgetRecords>(bench.welcome).empty());
  (void)bench.tell(LinkClosed{"as asked"});
  for (const WorkerId worker : {kW1, kW2}) {
    CHECK(all<SendToDaemon>(bench.tell(WorkerEnded{.worker = worker, .signal = SIGKILL})).empty());
  }
  (void)bench.pass(Duration::seconds(3));
  bench.join("there");
  REQUIRE(all<ForgetRecords>(bench.welcome).size() == 1);
  CHECK(all<ForgetRecords>(bench.welcome)[0].cluster == "here");
  CHECK(all<CloseLink>(bench.welcome).size() == 1);  // its hello named workers that mean nothing there
  (void)bench.tell(LinkClosed{"as asked"});
  (void)bench.pass(Duration::seconds(3));
  bench.join("there");
  REQUIRE(all<RecordCluster>(bench.welcome).size() == 1);
  CHECK(all<RecordCluster>(bench.welcome)[0].cluster == "there");
  CHECK(all<SendToDaemon>(bench.welcome).empty());  // no exit of a worker that this daemon never started
  // The same id is a new worker now.
  const auto started = bench.tell(DaemonSaid{api::StartWorker{.worker = kW1, .job = JobId(1), .program = "p"}});
  CHECK(all<SpawnWorker>(started).size() == 1);
}

TEST_CASE("a cluster that could not be the name of a folder is refused") {
  Bench bench;
  (void)bench.tell(LinkClosed{"gone"});
  (void)bench.pass(Duration::seconds(3));
  for (const char* name : {"", "../x", "a/b", "a b"}) {
    bench.join(name);
    REQUIRE(all<CloseLink>(bench.welcome).size() == 1);
    CHECK(all<RecordCluster>(bench.welcome).empty());
    (void)bench.tell(LinkClosed{"as asked"});
    (void)bench.pass(Duration::seconds(3));
  }
}

}  // namespace tidepool::agent
