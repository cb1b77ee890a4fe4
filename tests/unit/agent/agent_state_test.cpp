// What an agent decides, shown without a process: facts in, actions out.
#include "workers/agent/state/agent_state.hpp"

#include <catch2/catch.hpp>
#include <csignal>

#include "tests/support/agent_actions.hpp"
#include "tests/support/agent_bench.hpp"

namespace tidepool::agent {
namespace {

const WorkerId kW1(1);
const WorkerId kW2(2);

using Bench = AgentBench;

std::vector<api::WorkerExitedReport> reports(const std::vector<Action>& actions) {
  return told<api::WorkerExitedReport>(actions);
}

api::StartWorker start_of(WorkerId worker) {
  return {.worker = worker, .job = JobId(1), .slots = {0}, .program = "p"};
}

WorkerEnded ended(WorkerId worker, int exit_code) {
  return {.worker = worker, .exit_code = exit_code, .signal = 0, .detail = "bye"};
}

RecordedWorkers history_with_unconfirmed_exit() {
  RecordedWorkers history;
  history.started = {kW1};
  history.exits[kW1] = {.report = 4, .worker = kW1, .exit_code = 9, .signal = 0, .detail = "old"};
  history.unacknowledged = {kW1};
  history.next_report = 5;
  return history;
}

}  // namespace

TEST_CASE("a start is on disk before the process exists") {
  Bench bench;
  (void)bench.join();
  const auto actions = bench.order(start_of(kW1));
  REQUIRE(actions.size() == 2);
  CHECK(std::get<RecordStarted>(actions[0]).worker == kW1);
  CHECK(std::get<SpawnWorker>(actions[1]).order.worker == kW1);
}

TEST_CASE("slots that are not free after a worker's end are told, again after each welcome, until its exit is") {
  const auto held = [](const std::vector<Action>& actions) { return told<api::SlotsHeldReport>(actions); };
  Bench bench;
  (void)bench.join();
  (void)bench.order(start_of(kW1));
  const SlotsStillHeld fact{ended(kW1, 7), "memory of GPU-1 is still held", Duration::seconds(5)};
  const auto first = held(bench.tell(fact));
  REQUIRE(first.size() == 1);
  CHECK(first[0].worker == kW1);
  CHECK(first[0].for_ms == 5'000);
  CHECK(first[0].why == "memory of GPU-1 is still held");
  CHECK(first[0].exit_code == 7);
  CHECK(first[0].detail == "bye");
  CHECK(bench.state.lives(kW1));  // its slots are not free
  (void)bench.tell(LinkClosed{"gone"});
  const Instant before = bench.now;
  const auto again = held(bench.join());
  REQUIRE(again.size() == 1);
  CHECK(again[0].for_ms == 5'000 + (bench.now - before).count_ms());
  const auto exit = reports(bench.tell(ended(kW1, 7)));
  REQUIRE(exit.size() == 1);
  (void)bench.order(api::ReportAck{.report = exit[0].report});
  (void)bench.tell(LinkClosed{"gone"});
  CHECK(held(bench.join()).empty());
  CHECK(held(bench.tell(fact)).empty());  // it comes too late
}

TEST_CASE("the states of an ended job go at once or after the time told, and a later word replaces an earlier one") {
  Bench bench;
  CHECK(all<TellKeptJobs>(bench.join()).size() == 1);
  const auto at_once = all<DropStates>(bench.order(api::ForgetJob{JobId(1), 0}));
  REQUIRE(at_once.size() == 1);
  CHECK(at_once[0].job == JobId(1));
  CHECK(all<DropStates>(bench.order(api::ForgetJob{JobId(2), 100})).empty());
  CHECK(all<DropStates>(bench.pass(Duration::seconds(60))).empty());
  CHECK(all<DropStates>(bench.order(api::ForgetJob{JobId(2), 100})).empty());
  CHECK(all<DropStates>(bench.pass(Duration::seconds(99))).empty());
  REQUIRE(bench.state.deadline());
  CHECK(*bench.state.deadline() <= bench.now + Duration::seconds(1));
  CHECK(all<DropStates>(bench.pass(Duration::seconds(1))).size() == 1);
  CHECK(all<DropStates>(bench.pass(Duration::seconds(1'000))).empty());
}

TEST_CASE("what the devices do is told when it is measured, and again after each welcome") {
  Bench bench;
  CHECK(told<api::ProbedReport>(bench.tell(DevicesProbed{{{{"cpu", 40, 10}}}})).empty());  // no daemon listens yet
  CHECK(told<api::ProbedReport>(bench.join()).size() == 1);
  CHECK(all<ProbeDevices>(bench.order(api::ProbeNode{})).size() == 1);
  const auto again = told<api::ProbedReport>(bench.tell(DevicesProbed{{{{"cpu", 20, 10}}}}));
  REQUIRE(again.size() == 1);
  CHECK(again[0].devices[0].matmul_gflops == 20);
  CHECK(told<api::ProbedReport>(bench.tell(DevicesProbed{})).empty());  // a probe that failed
  (void)bench.tell(LinkClosed{"gone"});
  CHECK(told<api::ProbedReport>(bench.join())[0].devices[0].matmul_gflops == 20);
}

TEST_CASE("the devices are measured only once no worker is here, and figures from beside a worker are not told") {
  const api::ProbedReport figures{{{"cpu", 40, 10}}};
  Bench bench;
  (void)bench.join();
  (void)bench.order(start_of(kW1));
  CHECK(all<ProbeDevices>(bench.order(api::ProbeNode{})).empty());
  CHECK(all<ProbeDevices>(bench.tell(ended(kW1, 0))).size() == 1);
  (void)bench.order(start_of(kW2));  // beside the probe
  CHECK(all<ProbeDevices>(bench.order(api::ProbeNode{})).empty());
  CHECK(told<api::ProbedReport>(bench.tell(DevicesProbed{figures})).empty());
  CHECK(all<ProbeDevices>(bench.tell(ended(kW2, 0))).size() == 1);
  CHECK(told<api::ProbedReport>(bench.tell(DevicesProbed{figures})).size() == 1);
  CHECK(all<ProbeDevices>(bench.pass(Duration::seconds(1))).empty());
}

// A worker that says more than is passed on.
struct Talker {
  Bench bench;
  std::size_t passed = 0;
  std::size_t warned = 0;
  std::vector<api::FromWorkerReport> told_last;

  Talker() {
    (void)bench.join();
    (void)bench.order(start_of(kW1));
  }
  void take(const std::vector<Action>& actions) {
    told_last = told<api::FromWorkerReport>(actions);
    passed += told_last.size();
    warned += all<WarnOf>(actions).size();
  }
  void say(const api::FromWorker& message) { take(bench.tell(WorkerMessageReceived{kW1, message})); }
  void checkpoint(std::int64_t step) { say(api::CheckpointedMessage{.generation = 1, .step = step}); }
};

TEST_CASE("a program that says the same again and again is passed on at a bounded rate, what must be heard always") {
  Talker talker;
  for (int i = 0; i < 1'000; ++i) talker.say(api::EpochAuditedMessage{.epoch = i, .expected = 1, .used = 0});
  CHECK(talker.passed == 120);
  CHECK(talker.warned == 880);
  talker.bench.now = talker.bench.now + Duration::seconds(1);
  for (int i = 0; i < 10; ++i) talker.say(api::EpochAuditedMessage{.epoch = i, .expected = 1, .used = 0});
  CHECK(talker.passed == 122);  // two a second
  talker.passed = talker.warned = 0;
  for (int i = 0; i < 10'000; ++i) talker.say(api::StepsMessage{.generation = 1, .last_step = i});
  CHECK(talker.passed == 10'000);
  talker.say(api::StepsMessage{.generation = 1, .last_step = 10'001});
  talker.say(api::SwitchedMessage{.generation = 2});
  talker.say(api::FinishedMessage{.last_step = 10'001});
  CHECK(talker.passed == 10'002);
  CHECK(talker.warned == 1);
}

TEST_CASE("of checkpoints that come faster than they are passed on the newest is told as soon as one may be") {
  Talker talker;
  for (int step = 1; step <= 1'000; ++step) talker.checkpoint(step);
  CHECK(talker.passed == 120);
  CHECK(talker.warned == 0);
  talker.take(talker.bench.pass(Duration::millis(500)));
  REQUIRE(talker.told_last.size() == 1);
  CHECK(std::get<api::CheckpointedMessage>(talker.told_last.front().message).step == 1'000);
  talker.take(talker.bench.pass(Duration::seconds(10)));
  CHECK(talker.told_last.empty());
  for (int step = 1'001; step <= 1'100; ++step) talker.checkpoint(step);
  CHECK(talker.passed == 121 + 20);
  talker.take(talker.bench.tell(ended(kW1, 0)));
  REQUIRE(talker.told_last.size() == 1);
  CHECK(std::get<api::CheckpointedMessage>(talker.told_last.front().message).step == 1'100);
}

TEST_CASE("a notice is told when it is seen, when it comes nearer and when it goes, and again after each welcome") {
  Bench bench;
  CHECK(told<api::ReclaimReport>(bench.join()).empty());  // it looks for none
  const auto seen = told<api::ReclaimReport>(bench.tell(ReclaimLooked{bench.now + Duration::seconds(90)}));
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].in_ms == 90'000);
  // A source that says "in 90 s" at each look names a later end each time: the first counts.
  bench.now = bench.now + Duration::seconds(10);
  CHECK(told<api::ReclaimReport>(bench.tell(ReclaimLooked{bench.now + Duration::seconds(90)})).empty());
  CHECK(told<api::ReclaimReport>(bench.tell(ReclaimLooked{bench.now + Duration::millis(79'500)})).empty());
  CHECK(told<api::ReclaimReport>(bench.tell(ReclaimLooked{bench.now + Duration::seconds(60)}))[0].in_ms == 60'000);
  (void)bench.tell(LinkClosed{"gone"});
  const auto again = told<api::ReclaimReport>(bench.join());
  REQUIRE(again.size() == 1);
  CHECK(again[0].in_ms == 57'000);  // it took three seconds to connect
  CHECK(told<api::ReclaimReport>(bench.tell(ReclaimLooked{})).size() == 1);
  CHECK(told<api::ReclaimReport>(bench.tell(ReclaimLooked{})).empty());
  (void)bench.tell(LinkClosed{"gone"});
  const auto withdrawn = told<api::ReclaimReport>(bench.join());
  REQUIRE(withdrawn.size() == 1);
  CHECK_FALSE(withdrawn[0].in_ms);
  // What lies beyond the longest notice that the protocol has is told as that, and what is over as now.
  CHECK(told<api::ReclaimReport>(bench.tell(ReclaimLooked{bench.now + Duration::seconds(90LL * 86'400)}))[0].in_ms ==
        api::kReclaimNoticeMax.count_ms());
  CHECK(told<api::ReclaimReport>(bench.tell(ReclaimLooked{bench.now - Duration::seconds(1)}))[0].in_ms == 0);
}

TEST_CASE("an exit is on disk before the daemon hears of it, and is told until it is acknowledged") {
  Bench bench;
  (void)bench.join();
  (void)bench.order(start_of(kW1));
  const auto actions = bench.tell(ended(kW1, 3));
  REQUIRE(actions.size() == 2);
  CHECK(std::get<RecordExit>(actions[0]).report.exit_code == 3);
  const auto first = reports(actions);
  REQUIRE(first.size() == 1);

  (void)bench.tell(LinkClosed{"gone"});
  const auto again = reports(bench.join());
  REQUIRE(again.size() == 1);
  CHECK(again[0].report == first[0].report);
  CHECK(again[0].detail == "bye");

  CHECK(all<RecordAck>(bench.order(api::ReportAck{.report = first[0].report})).size() == 1);
  (void)bench.tell(LinkClosed{"gone"});
  CHECK(reports(bench.join()).empty());
  const auto outcome = reports(bench.order(start_of(kW1)));
  REQUIRE(outcome.size() == 1);
  CHECK(outcome[0].exit_code == 3);
  CHECK(outcome[0].detail.empty());
}

TEST_CASE("of exits that are confirmed the outcomes of the newest workers stay, and of the others nothing") {
  RecordedWorkers history;
  for (const std::uint64_t number : {1U, 2U, 3U, 4U}) {
    const WorkerId worker(number);
    history.started.insert(worker);
    history.exits[worker] = {.report = number, .worker = worker, .detail = "bye"};
    history.unacknowledged.insert(worker);
  }
  history.confirm(WorkerId(3), 2);
  CHECK(history.exits.size() == 4);  // older ones are not confirmed
  CHECK(history.exits.at(WorkerId(3)).detail.empty());
  CHECK(history.exits.at(WorkerId(4)).detail == "bye");
  history.confirm(kW1, 2);
  CHECK(history.started == std::set<WorkerId>{kW2, WorkerId(3), WorkerId(4)});
  history.confirm(kW2, 2);
  CHECK(history.started == std::set<WorkerId>{WorkerId(3), WorkerId(4)});
  CHECK(history.exits.size() == 2);
  CHECK(history.unacknowledged == std::set<WorkerId>{WorkerId(4)});
}

TEST_CASE("a worker id is never spawned twice: not while it lives, not after it ended, not after a restart") {
  Bench bench;
  (void)bench.join();
  (void)bench.order(start_of(kW1));
  CHECK(bench.order(start_of(kW1)).empty());

  (void)bench.tell(ended(kW1, 3));
  (void)bench.order(api::ReportAck{.report = 1});
  const auto actions = bench.order(start_of(kW1));
  CHECK(all<SpawnWorker>(actions).empty());
  REQUIRE(reports(actions).size() == 1);
  CHECK(reports(actions)[0].exit_code == 3);

  Bench restarted(history_with_unconfirmed_exit());
  (void)restarted.join();
  CHECK(all<SpawnWorker>(restarted.order(start_of(kW1))).empty());
}

TEST_CASE("a stop of an unknown worker ends it for good, so that a late start cannot revive it") {
  Bench bench;
  (void)bench.join();
  const auto actions = bench.order(api::StopWorker{.worker = kW2, .grace_ms = 100});
  CHECK(all<RecordStarted>(actions).size() == 1);
  CHECK(all<SignalWorker>(actions).empty());
  REQUIRE(reports(actions).size() == 1);
  CHECK_THAT(reports(actions)[0].detail, Catch::Contains("before it was started"));
  CHECK(all<SpawnWorker>(bench.order(start_of(kW2))).empty());
}

TEST_CASE("a stop asks once and kills when the grace is over; a second one may only shorten the grace") {
  Bench bench;
  (void)bench.join();
  (void)bench.order(start_of(kW1));
  auto signals = all<SignalWorker>(bench.order(api::StopWorker{.worker = kW1, .grace_ms = 5'000}));
  REQUIRE(signals.size() == 1);
  CHECK(signals[0].signal == SIGTERM);
  CHECK(all<SignalWorker>(bench.order(api::StopWorker{.worker = kW1, .grace_ms = 2'000})).empty());
  CHECK(all<SignalWorker>(bench.order(api::StopWorker{.worker = kW1, .grace_ms = 60'000})).empty());
  CHECK(all<SignalWorker>(bench.pass(Duration::millis(1'999))).empty());
  signals = all<SignalWorker>(bench.pass(Duration::millis(1)));
  REQUIRE(signals.size() == 1);
  CHECK(signals[0].signal == SIGKILL);
  CHECK(all<SignalWorker>(bench.pass(Duration::seconds(60))).empty());
}

TEST_CASE("a worker that its agent killed is told as that; one that ended by itself is not") {
  Bench bench;
  (void)bench.join();
  (void)bench.order(start_of(kW1));
  (void)bench.order(start_of(kW2));
  (void)bench.order(api::StopWorker{.worker = kW1, .grace_ms = 2'000});
  (void)bench.pass(Duration::seconds(2));
  const auto killed = reports(bench.tell(WorkerEnded{.worker = kW1, .signal = SIGKILL, .detail = "bye"}));
  REQUIRE(killed.size() == 1);
  CHECK(killed[0].detail == "its agent killed it: it did not exit within its grace after the order to stop; bye");
  const auto lost = reports(bench.tell(WorkerEnded{.worker = kW2, .signal = SIGKILL, .detail = "bye"}));
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].detail == "bye");
}

TEST_CASE("an exit tells whether nothing was started or a program ended unseen, and no other one does") {
  Bench bench;
  (void)bench.join();
  for (const WorkerId worker : {WorkerId(1), WorkerId(2), WorkerId(3), WorkerId(4)}) {
    (void)bench.order(start_of(worker));
  }
  const auto told_of = [&](const WorkerEnded& end) {
    const auto exits = reports(bench.tell(end));
    REQUIRE(exits.size() == 1);
    return exits[0].nothing_started;
  };
  CHECK(told_of({.worker = WorkerId(1), .detail = "no room", .nothing_started = true}) == true);
  CHECK(told_of({.worker = WorkerId(2), .detail = "exited while adopted; exit code unknown"}) == false);
  CHECK_FALSE(told_of(ended(WorkerId(3), 1)).has_value());
  CHECK_FALSE(told_of({.worker = WorkerId(4), .signal = SIGKILL}).has_value());
  const auto late = reports(bench.order(api::StopWorker{.worker = WorkerId(5), .grace_ms = 0}));
  REQUIRE(late.size() == 1);
  CHECK(late[0].nothing_started == true);
}

TEST_CASE("a stop without grace kills at once, and an ended worker is not signalled") {
  Bench bench;
  (void)bench.join();
  (void)bench.order(start_of(kW1));
  const auto signals = all<SignalWorker>(bench.order(api::StopWorker{.worker = kW1, .grace_ms = 0}));
  REQUIRE(signals.size() == 1);
  CHECK(signals[0].signal == SIGKILL);
  (void)bench.order(start_of(kW2));
  (void)bench.order(api::StopWorker{.worker = kW2, .grace_ms = 1'000});
  (void)bench.tell(ended(kW2, 0));
  CHECK(all<SignalWorker>(bench.pass(Duration::seconds(2))).empty());
}

TEST_CASE("the hello carries the inventory of every living worker") {
  RecordedWorkers history;
  history.started = {kW1, kW2};
  history.exits[kW2] = {.report = 1, .worker = kW2};
  Bench bench(history);
  (void)bench.pass(Duration());
  auto hello = all<SendHello>(bench.tell(LinkOpened{}));
  REQUIRE(hello.size() == 1);
  CHECK(hello[0].running == std::vector<WorkerId>{kW1});
}

TEST_CASE(
    "a worker whose exit is not acknowledged is in the hello, so that the daemon knows it when it reads its last "
    "words") {
  Bench bench;
  (void)bench.join();
  (void)bench.order(start_of(kW1));
  (void)bench.order(start_of(kW2));
  (void)bench.tell(LinkClosed{"gone"});
  (void)bench.tell(WorkerMessageReceived{kW1, api::FinishedMessage{.last_step = 7, .loss = 1}});
  (void)bench.tell(ended(kW1, 0));
  (void)bench.pass(Duration::seconds(1));
  const auto hello = all<SendHello>(bench.tell(LinkOpened{}));
  REQUIRE(hello.size() == 1);
  CHECK(hello[0].running == std::vector<WorkerId>{kW1, kW2});
  const auto sent = all<SendToDaemon>(bench.order(api::AgentWelcome{.node = NodeId(1), .cluster = "here"}));
  REQUIRE(sent.size() == 2);
  CHECK(std::get<api::FromWorkerReport>(sent[0].message).worker == kW1);
  const auto report = std::get<api::WorkerExitedReport>(sent[1].message).report;
  (void)bench.order(api::ReportAck{report});
  (void)bench.tell(LinkClosed{"gone"});
  (void)bench.pass(Duration::seconds(1));
  CHECK(all<SendHello>(bench.tell(LinkOpened{}))[0].running == std::vector<WorkerId>{kW2});
}

TEST_CASE("another cluster that was told of ended workers is joined anew, without them") {
  Bench bench;
  (void)bench.join();
  (void)bench.order(start_of(kW1));
  (void)bench.tell(ended(kW1, 0));
  (void)bench.tell(LinkClosed{"gone"});
  (void)bench.pass(Duration::seconds(1));
  CHECK(all<SendHello>(bench.tell(LinkOpened{}))[0].running == std::vector<WorkerId>{kW1});
  CHECK(all<CloseLink>(bench.order(api::AgentWelcome{.node = NodeId(1), .cluster = "there"})).size() == 1);
  (void)bench.tell(LinkClosed{"gone"});
  (void)bench.pass(Duration::seconds(1));
  CHECK(all<SendHello>(bench.tell(LinkOpened{}))[0].running.empty());
  CHECK(all<CloseLink>(bench.order(api::AgentWelcome{.node = NodeId(1), .cluster = "there"})).empty());
}

TEST_CASE("attempts to connect wait longer each time, with jitter, and never above two seconds") {
  Bench bench;
  CHECK(all<OpenLink>(bench.pass(Duration())).size() == 1);
  Duration longest;
  for (int attempt = 0; attempt < 12; ++attempt) {
    (void)bench.tell(LinkClosed{"refused"});
    REQUIRE(bench.state.deadline().has_value());
    const Duration wait = *bench.state.deadline() - bench.now;
    const Duration full = std::min(Duration::millis(50) * (std::int64_t{1} << attempt), Duration::seconds(2));
    CAPTURE(attempt, wait.count_us(), full.count_us());
    CHECK(wait <= full);
    CHECK(wait * 2 >= full);
    longest = std::max(longest, wait);
    CHECK(all<OpenLink>(bench.pass(wait)).size() == 1);
  }
  CHECK(longest > Duration::seconds(1));
  (void)bench.tell(LinkOpened{});
  (void)bench.order(api::AgentWelcome{.node = NodeId(1), .cluster = "here"});
  (void)bench.tell(LinkClosed{"gone"});
  CHECK(*bench.state.deadline() - bench.now <= Duration::millis(50));
}

TEST_CASE("an agent that is refused each time waits up to half a minute, and no longer than before once it is not") {
  Bench bench;
  Duration wait;
  const auto try_again = [&](bool refused) {
    REQUIRE(all<OpenLink>(bench.pass(wait)).size() == 1);
    (void)bench.tell(LinkOpened{});
    if (refused) CHECK(all<CloseLink>(bench.order(api::AgentRefuse{.why = "revoked"})).size() == 1);
    (void)bench.tell(LinkClosed{"gone"});
    REQUIRE(bench.state.deadline().has_value());
    wait = *bench.state.deadline() - bench.now;
  };
  for (int attempt = 1; attempt <= 14; ++attempt) {
    try_again(true);
    const Duration full = std::min(Duration::millis(50) * (std::int64_t{1} << attempt), Duration::seconds(30));
    CAPTURE(attempt, wait.count_us(), full.count_us());
    CHECK(wait <= full);
    CHECK(wait * 2 >= full);
  }
  try_again(false);
  CHECK(wait <= Duration::millis(50));
  try_again(true);
  CHECK(wait <= Duration::millis(100));
}

TEST_CASE("heartbeats come at the daemon's pace and only while it is there") {
  Bench bench;
  (void)bench.pass(Duration());
  (void)bench.tell(LinkOpened{});
  (void)bench.order(api::AgentWelcome{.node = NodeId(1), .heartbeat_ms = 200, .cluster = "here"});
  CHECK(all<SendToDaemon>(bench.pass(Duration::millis(199))).empty());
  CHECK(all<SendToDaemon>(bench.pass(Duration::millis(1))).size() == 1);
  CHECK(all<SendToDaemon>(bench.pass(Duration::millis(200))).size() == 1);
  (void)bench.tell(LinkClosed{"gone"});
  CHECK(all<SendToDaemon>(bench.pass(Duration::seconds(1))).empty());
}

TEST_CASE("a daemon that does not answer the hello, orders before its welcome or welcomes twice is left") {
  Bench silent;
  (void)silent.pass(Duration());
  (void)silent.tell(LinkOpened{});
  CHECK(all<CloseLink>(silent.pass(Duration::seconds(10))).size() == 1);

  Bench hasty;
  (void)hasty.pass(Duration());
  (void)hasty.tell(LinkOpened{});
  const auto actions = hasty.order(start_of(kW1));
  CHECK(all<CloseLink>(actions).size() == 1);
  CHECK(all<SpawnWorker>(actions).empty());

  Bench twice;
  (void)twice.join();
  CHECK(all<CloseLink>(twice.order(api::AgentWelcome{.node = NodeId(2), .cluster = "here"})).size() == 1);
}

TEST_CASE("what workers say while no daemon listens is kept, in order, and then they say again where they are") {
  Bench bench;
  (void)bench.tell(WorkerMessageReceived{kW1, api::ReadyMessage{.generation = 1}});
  auto actions = bench.join();
  CHECK(all<SendToDaemon>(actions).size() == 1);
  CHECK(all<CloseWorkerLinks>(actions).empty());  // no daemon had read anything that could be lost

  (void)bench.tell(LinkClosed{"gone"});
  (void)bench.tell(WorkerMessageReceived{kW1, api::ReadyMessage{.generation = 2}});
  (void)bench.tell(WorkerMessageReceived{kW1, api::FinishedMessage{.last_step = 7, .loss = 1}});
  actions = bench.join();
  const auto sent = all<SendToDaemon>(actions);
  REQUIRE(sent.size() == 2);
  CHECK(std::holds_alternative<api::ReadyMessage>(std::get<api::FromWorkerReport>(sent[0].message).message));
  CHECK(std::holds_alternative<api::FinishedMessage>(std::get<api::FromWorkerReport>(sent[1].message).message));
  CHECK(std::holds_alternative<CloseWorkerLinks>(actions.back()));
}

TEST_CASE(
    "audits that a dead daemon may have lost are repeated before newer ones, until the worker's exit is acknowledged") {
  Bench bench;
  (void)bench.join();
  (void)bench.order(start_of(kW1));
  const auto epochs_of = [](const std::vector<Action>& actions) {
    std::vector<std::int64_t> epochs;
    for (const auto& sent : all<SendToDaemon>(actions)) {
      const auto* report = std::get_if<api::FromWorkerReport>(&sent.message);
      const auto* audit = report == nullptr ? nullptr : std::get_if<api::EpochAuditedMessage>(&report->message);
      if (audit != nullptr) epochs.push_back(audit->epoch);
    }
    return epochs;
  };
  using Epochs = std::vector<std::int64_t>;
  CHECK(epochs_of(bench.tell(WorkerMessageReceived{kW1, api::EpochAuditedMessage{.epoch = 1}})) == Epochs{1});
  CHECK(epochs_of(bench.tell(WorkerMessageReceived{kW1, api::EpochAuditedMessage{.epoch = 2}})) == Epochs{2});
  (void)bench.tell(LinkClosed{"gone"});
  (void)bench.tell(WorkerMessageReceived{kW1, api::EpochAuditedMessage{.epoch = 3}});
  CHECK(epochs_of(bench.join()) == Epochs{1, 2, 3});
  (void)bench.tell(LinkClosed{"gone"});
  CHECK(epochs_of(bench.join()) == Epochs{1, 2, 3});

  (void)bench.tell(ended(kW1, 0));
  (void)bench.order(api::ReportAck{.report = 1});
  (void)bench.tell(LinkClosed{"gone"});
  CHECK(epochs_of(bench.join()).empty());
}

TEST_CASE("what is kept for the daemon is bounded in bytes, and the newest stays") {
  Outbox outbox;
  for (int i = 0; i < 200; ++i) {
    const WorkerId worker(static_cast<std::uint64_t>(1 + i % 2));
    outbox.add(
        {.worker = worker, .message = api::CheckpointFailedMessage{.step = i, .error = std::string(900'000, 'x')}});
  }
  outbox.forget(WorkerId(1));
  outbox.add({.worker = WorkerId(3), .message = api::ReadyMessage{}});
  const auto kept = outbox.take();
  CHECK(kept.size() < 80);
  CHECK(kept.size() > 20);
  CHECK(std::get<api::CheckpointFailedMessage>(kept[kept.size() - 2].message).step == 199);
  CHECK(outbox.take().empty());
}

TEST_CASE("that a worker has finished is repeated, before its exit, until the exit is acknowledged") {
  Bench bench;
  (void)bench.join();
  (void)bench.order(start_of(kW1));
  CHECK(all<SendToDaemon>(bench.tell(WorkerMessageReceived{kW1, api::FinishedMessage{.last_step = 7, .loss = 1}}))
            .size() == 1);
  (void)bench.tell(ended(kW1, 0));
  for (int i = 0; i < 2; ++i) {
    (void)bench.tell(LinkClosed{"gone"});
    const auto sent = all<SendToDaemon>(bench.join());
    REQUIRE(sent.size() == 2);
    CHECK(std::holds_alternative<api::FromWorkerReport>(sent[0].message));
    CHECK(std::holds_alternative<api::WorkerExitedReport>(sent[1].message));
  }
  (void)bench.order(api::ReportAck{.report = 1});
  (void)bench.tell(LinkClosed{"gone"});
  CHECK(all<SendToDaemon>(bench.join()).empty());
}

TEST_CASE("an agent ends by itself only when it has neither daemon nor worker for the whole time") {
  RecordedWorkers history;
  history.started = {kW1};
  Bench bench(history, {.exit_when_idle = Duration::seconds(30)});
  CHECK(all<Quit>(bench.pass(Duration::seconds(100))).empty());
  (void)bench.tell(LinkClosed{"refused"});
  (void)bench.tell(ended(kW1, 0));
  CHECK(all<Quit>(bench.pass(Duration::seconds(29))).empty());
  (void)bench.tell(LinkOpened{});
  (void)bench.order(api::AgentWelcome{.node = NodeId(1), .cluster = "here"});
  CHECK(all<Quit>(bench.pass(Duration::seconds(100))).empty());
  (void)bench.tell(LinkClosed{"gone"});
  CHECK(all<Quit>(bench.pass(Duration::seconds(29))).empty());
  CHECK(all<Quit>(bench.pass(Duration::seconds(1))).size() == 1);
}

TEST_CASE("told to quit, an agent leaves its workers alive unless told to stop them") {
  Bench leaves;
  (void)leaves.join();
  (void)leaves.order(start_of(kW1));
  auto actions = leaves.tell(QuitAsked{.stop_workers = false});
  CHECK(all<Quit>(actions).size() == 1);
  CHECK(all<SignalWorker>(actions).empty());

  Bench idle;
  (void)idle.join();
  CHECK(told<api::StoppingReport>(idle.tell(QuitAsked{.stop_workers = true})).empty());

  Bench stops;
  (void)stops.join();
  (void)stops.order(start_of(kW1));
  actions = stops.tell(QuitAsked{.stop_workers = true});
  CHECK(all<Quit>(actions).empty());
  CHECK(told<api::StoppingReport>(actions).size() == 1);
  REQUIRE(all<SignalWorker>(actions).size() == 1);
  CHECK(all<SignalWorker>(actions)[0].signal == SIGTERM);
  CHECK(all<SpawnWorker>(stops.order(start_of(kW2))).empty());
  actions = stops.tell(QuitAsked{.stop_workers = true});
  CHECK(all<SignalWorker>(actions).at(0).signal == SIGKILL);
  CHECK(told<api::StoppingReport>(actions).empty());
  (void)stops.tell(LinkClosed{});
  (void)stops.tell(LinkOpened{});
  CHECK(told<api::StoppingReport>(stops.order(api::AgentWelcome{.node = NodeId(1), .cluster = "here"})).size() == 1);
  CHECK(all<Quit>(stops.tell(ended(kW1, -1))).size() == 1);
}

}  // namespace tidepool::agent
