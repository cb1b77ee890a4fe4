// What a simulated machine does with its agent: the disk outlives a crash, processes do not, and an exit is told until
// it has been heard.
#include "sim/node_agent.hpp"

#include <set>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace tidepool::sim {
namespace {

constexpr WorkerId kWorker{7};
constexpr WorkerId kRestartable{8};

struct FakeMachine final : Machine {
  void begin_worker(const api::StartWorker& order) override { began.insert(order.worker); }
  void begin_program(WorkerId, const agent::RestartableWorker::StartProgram&) override { ++programs; }
  void signal(WorkerId, int number) override { signals.push_back(number); }
  void end_worker(WorkerId worker) override { began.erase(worker); }
  void on_message(WorkerId, const api::ToWorker&) override {}
  void relink_workers() override {}
  void ask_for_state(JobId, std::int64_t) override {}
  void fetch_state(const api::FetchState&) override {}
  void abandon_fetch(JobId) override {}
  void offer_state(const api::OfferState&) override {}
  void open_link() override { ++wanted; }
  void close_link() override {}
  void greet(std::vector<WorkerId> all) override { running = std::move(all); }
  void send(api::AgentToDaemon message) override { sent.push_back(std::move(message)); }
  void wake_at(Instant at) override { wake = at; }

  [[nodiscard]] int exits_told() const {
    int told = 0;
    for (const auto& message : sent) told += std::holds_alternative<api::WorkerExitedReport>(message) ? 1 : 0;
    return told;
  }

  std::set<WorkerId> began;
  int programs = 0;
  std::vector<int> signals;
  int wanted = 0;
  std::vector<WorkerId> running;
  std::vector<api::AgentToDaemon> sent;
  Instant wake;
};

// A machine that is on, and its agent let in by the daemon.
struct Scene {
  Scene() {
    agent.boot(machine, now);
    let_in();
  }
  void let_in() {
    agent.feed(agent::LinkOpened{}, machine, now);
    say(api::AgentWelcome{.node = NodeId(1), .heartbeat_ms = 3'600'000, .cluster = "simulated"});
  }
  void say(api::DaemonToAgent message) { agent.feed(agent::DaemonMessageReceived{std::move(message)}, machine, now); }
  void crash_and_return() {
    agent.crash();
    machine = {};
    agent.boot(machine, now);
    let_in();
  }

  FakeMachine machine;
  NodeAgent agent{1};
  Instant now = Instant::from_micros(1);
};

TEST_CASE("an exit is told again on each new link until it is acknowledged") {
  Scene scene;
  scene.say(api::StartWorker{.worker = kWorker, .job = JobId(1), .slots = {0}});
  CHECK(scene.machine.began.contains(kWorker));
  scene.agent.feed(agent::WorkerEnded{.worker = kWorker, .exit_code = 0}, scene.machine, scene.now);
  CHECK(scene.machine.exits_told() == 1);
  scene.agent.feed(agent::LinkClosed{"lost"}, scene.machine, scene.now);
  scene.agent.wake(scene.machine, scene.machine.wake);
  CHECK(scene.machine.wanted == 2);
  scene.let_in();
  CHECK(scene.machine.running == std::vector{kWorker});
  CHECK(scene.machine.exits_told() == 2);
  CHECK_FALSE(scene.agent.all_acknowledged());
  scene.say(api::ReportAck{1});
  CHECK(scene.agent.all_acknowledged());
}

TEST_CASE("a machine that comes back after a crash says that its process is gone, and starts it no second time") {
  Scene scene;
  const api::StartWorker start{.worker = kWorker, .job = JobId(1), .slots = {0}};
  scene.say(start);
  scene.crash_and_return();
  CHECK(scene.machine.running == std::vector{kWorker});
  CHECK(scene.machine.exits_told() == 1);
  scene.say(start);
  CHECK(scene.machine.began.empty());
}

TEST_CASE("a worker outlives a crash, and says how its program has ended") {
  Scene scene;
  scene.say(api::StartWorker{.worker = kRestartable, .job = JobId(1), .slots = {0}, .restart_grace_ms = 1'000});
  scene.say(api::ToWorkerOrder{kRestartable, api::GenerationMessage{.number = 3, .members = {kRestartable}}});
  scene.say(api::ToWorkerOrder{kRestartable, api::AddressesMessage{.generation = 3, .blobs = {kRestartable.text()}}});
  CHECK(scene.machine.programs == 1);
  scene.crash_and_return();
  CHECK(scene.machine.exits_told() == 0);
  const api::EndedMessage* ended = nullptr;
  for (const auto& message : scene.machine.sent) {
    const auto* report = std::get_if<api::FromWorkerReport>(&message);
    if (report != nullptr && std::holds_alternative<api::EndedMessage>(report->message)) {
      ended = &std::get<api::EndedMessage>(report->message);
    }
  }
  REQUIRE(ended != nullptr);
  CHECK(ended->generation == 3);
  CHECK(ended->exit_code == -1);
}

TEST_CASE("a worker that ignores notice is killed when its grace is over") {
  Scene scene;
  scene.say(api::StartWorker{.worker = kWorker, .job = JobId(1), .slots = {0}});
  scene.say(api::StopWorker{.worker = kWorker, .grace_ms = 500});
  REQUIRE(scene.machine.signals.size() == 1);
  CHECK(scene.machine.wake <= scene.now + Duration::millis(500));
  scene.now = scene.now + Duration::millis(500);
  scene.agent.wake(scene.machine, scene.now);
  CHECK(scene.machine.signals.size() == 2);
}

}  // namespace
}  // namespace tidepool::sim
