// Each thing that agents say: which rows, orders and notes it leaves.
#include "schedulerd/leader/agent_reports.hpp"

#include <algorithm>

#include "tests/unit/leader/turn_scene.hpp"

namespace tidepool::leader {

TEST_CASE("an agent is admitted with what it may have missed, or refused in words and without a row") {
  Daemon daemon;
  (void)daemon.take(AgentHelloItem{1, hello_of("n1")}, command(SubmitJob{two_workers()}));
  const auto result = daemon.take(AgentHelloItem{2, hello_of("n1")});
  const auto admitted = all<Admission>(result.orders);
  REQUIRE(admitted.size() == 1);
  CHECK(admitted.front().session == 2);
  CHECK(admitted.front().node == NodeId(1));
  CHECK(std::count_if(admitted.front().orders.begin(), admitted.front().orders.end(),
                      [](const auto& order) { return std::holds_alternative<api::StartWorker>(order); }) == 2);
  CHECK(all<AgentJoinedNote>(result.notes).size() == 1);

  auto bad = hello_of("n2");
  bad.slots = 0;
  const auto refused = daemon.take(AgentHelloItem{3, bad});
  CHECK(refused.rows.empty());
  REQUIRE(all<AgentRefusal>(refused.orders).size() == 1);
  CHECK(all<AgentRefusal>(refused.orders).front().session == 3);
  CHECK(all<AgentRefusedNote>(refused.notes).size() == 1);
}

TEST_CASE("what was ordered while a node's link was down is ordered once when it is back") {
  const auto ordered = [](const TurnResult& result, auto kind) {
    using Kind = decltype(kind);
    std::size_t count = messages<Kind>(result).size();
    for (const Admission& admitted : all<Admission>(result.orders)) count += all<Kind>(admitted.orders).size();
    return count;
  };
  Daemon daemon;
  (void)daemon.take(AgentHelloItem{1, hello_of("n1")});
  CHECK(ordered(daemon.take(command(SubmitJob{two_workers()})), api::StartWorker{}) == 2);  // which go nowhere
  CHECK(ordered(daemon.take(AgentHelloItem{2, hello_of("n1")}), api::StartWorker{}) == 2);
  (void)daemon.say(WorkerId(1), api::ReadyMessage{});
  (void)daemon.say(WorkerId(2), api::ReadyMessage{});

  CHECK(ordered(daemon.take(command(CancelJob{JobId(1)})), api::StopWorker{}) == 2);  // likewise
  auto hello = hello_of("n1");
  hello.running = {WorkerId(1), WorkerId(2)};
  const auto back = daemon.take(AgentHelloItem{3, hello});
  CHECK(ordered(back, api::StopWorker{}) == 2);
  CHECK(ordered(back, api::StartWorker{}) == 0);
}

TEST_CASE("a start that a lost node never heard of is not said again, and the job starts anew when the node is back") {
  Daemon daemon;
  (void)daemon.take(AgentHelloItem{1, hello_of("n1")}, command(SubmitJob{two_workers()}));
  const auto lost = daemon.take(AgentLostItem{"n1", "silent"});
  CHECK(messages<api::StartWorker>(lost).empty());
  const auto back = daemon.take(AgentHelloItem{2, hello_of("n1")});
  const auto admitted = all<Admission>(back.orders);
  REQUIRE(admitted.size() == 1);
  CHECK(all<api::StartWorker>(admitted.front().orders).empty());
  const auto starts = messages<api::StartWorker>(back);
  REQUIRE(starts.size() == 2);
  CHECK(starts[0].worker == WorkerId(3));
  CHECK(starts[1].worker == WorkerId(4));
}

TEST_CASE("workers of a time that the journal does not know are told to their agent and to the log, and not believed") {
  Daemon daemon;
  (void)daemon.take(AgentHelloItem{1, hello_of("n1")}, command(SubmitJob{two_workers()}));
  auto hello = hello_of("n1");
  hello.running = {WorkerId(1), WorkerId(2), WorkerId(9)};
  const std::int64_t start = daemon.turn.state().find_worker(WorkerId(1))->started_at.count_us();
  hello.starts = {start, start + 1, 7};
  const auto result = daemon.take(AgentHelloItem{2, hello});
  const auto admitted = all<Admission>(result.orders);
  REQUIRE(admitted.size() == 1);
  CHECK(admitted.front().lost == std::vector{WorkerId(2), WorkerId(9)});
  CHECK(messages<api::StopWorker>(result).empty());
  CHECK(facts<core::NodeJoined>(result).front().running == std::vector{WorkerId(1)});
  const auto notes = all<JournalWentBackNote>(result.notes);
  REQUIRE(notes.size() == 1);
  CHECK(notes.front().lost.size() == 2);
}

TEST_CASE("an agent that is stopped loses its node at once, and what its workers still say is passed over") {
  Daemon daemon;
  daemon.start();
  const auto stopped = daemon.take(AgentLostItem{"n1", "its agent was stopped", true});
  REQUIRE(facts<core::NodeLost>(stopped).size() == 1);
  CHECK(facts<core::NodeLost>(stopped).front().stopped);
  CHECK(messages<api::StartWorker>(stopped).empty());
  CHECK(facts<core::StepsMeasured>(daemon.say(WorkerId(1), steps())).empty());
  const auto exits = daemon.take(WorkerExitedItem{NodeId(1), {.report = 5, .worker = WorkerId(1), .exit_code = 143}});
  CHECK(facts<core::WorkerExited>(exits).size() == 1);
  check_nothing(daemon.take(AgentLostItem{"n1", "silent"}));
}

TEST_CASE("of an agent that is lost its node is, and an agent that never joined is no news") {
  Daemon daemon;
  daemon.start();
  (void)daemon.say(WorkerId(1), api::SwitchedMessage{.generation = 1});
  (void)daemon.say(WorkerId(1), steps());
  REQUIRE(daemon.turn.newest().compute_ms().size() == 2);
  check_nothing(daemon.take(AgentLostItem{"n9", "silent"}));
  const auto result = daemon.take(AgentLostItem{"n1", "silent"});
  CHECK(facts<core::NodeLost>(result).size() == 1);
  CHECK(all<NodeLostNote>(result.notes).size() == 1);
  CHECK(daemon.turn.newest().compute_ms().empty());
}

TEST_CASE("what members say becomes facts, measurements and what the others are to hear") {
  Daemon daemon;
  daemon.start();
  CHECK(messages<api::ToWorkerOrder>(daemon.say(WorkerId(1), api::AddressMessage{1, 0, "a"})).empty());
  const auto met = daemon.say(WorkerId(2), api::AddressMessage{1, 1, "b"});
  CHECK(facts<core::WorkerJoining>(met).size() == 1);
  CHECK(messages<api::ToWorkerOrder>(met).size() == 2);
  CHECK(facts<core::GenerationSwitched>(daemon.say(WorkerId(1), api::SwitchedMessage{.generation = 1})).size() == 1);

  const auto measured = daemon.say(WorkerId(1), steps());
  const auto metrics = all<MetricRow>(measured.rows);
  REQUIRE(metrics.size() == 1);
  CHECK(metrics.front().job == JobId(1));
  CHECK(daemon.turn.newest().jobs().contains(JobId(1)));
  CHECK(daemon.turn.newest().compute_ms().at(WorkerId(2)) == Approx(30));

  // A link that is back hears of its generation and of the addresses again.
  const auto back = daemon.say(WorkerId(2), api::ReadyMessage{.generation = 0});
  CHECK(facts<core::WorkerReady>(back).empty());
  CHECK(messages<api::ToWorkerOrder>(back).size() == 2);
}

TEST_CASE("a copy of the newest measurements for readers costs none of them, and keeps them as they were") {
  Daemon daemon;
  daemon.start();
  (void)daemon.say(WorkerId(1), api::SwitchedMessage{.generation = 1});
  (void)daemon.say(WorkerId(1), steps());
  const auto jobs = daemon.turn.newest().jobs();
  const auto compute_ms = daemon.turn.newest().compute_ms();
  int copied = 0;
  const auto count = [&](auto) { ++copied; };
  SharedIdTable<JobId, LatestMetrics>::for_each_unshared(jobs, daemon.turn.newest().jobs(), count);
  SharedIdTable<WorkerId, double>::for_each_unshared(compute_ms, daemon.turn.newest().compute_ms(), count);
  CHECK(copied == 0);
  auto next = steps();
  next.last_step = 2;
  next.samples_total = 128;
  next.compute_us[1] = 35'000;
  (void)daemon.say(WorkerId(1), next);
  CHECK(compute_ms.at(WorkerId(2)) == Approx(30));
  CHECK(daemon.turn.newest().compute_ms().at(WorkerId(2)) == Approx(35));
}

TEST_CASE("a late report of one who still runs brings no measurement of one who has ended") {
  Daemon daemon;
  daemon.start();
  (void)daemon.say(WorkerId(1), steps());
  REQUIRE(daemon.turn.newest().compute_ms().contains(WorkerId(2)));
  auto late = steps();
  late.last_step = 2;
  late.samples_total = 128;
  (void)daemon.take(WorkerExitedItem{NodeId(1), {.report = 5, .worker = WorkerId(2), .exit_code = 1}},
                    FromWorkerItem{NodeId(1), {.worker = WorkerId(1), .message = late}});
  CHECK_FALSE(daemon.turn.newest().compute_ms().contains(WorkerId(2)));
}

TEST_CASE("a refused report leaves a note and no row; one of another node's worker is ignored") {
  Daemon daemon;
  daemon.start();
  auto old = steps();
  old.steps = 0;
  const auto refused = daemon.say(WorkerId(1), old);
  check_nothing(refused);
  REQUIRE(all<ReportRefusedNote>(refused.notes).size() == 1);
  CHECK(all<ReportRefusedNote>(refused.notes).front().worker == WorkerId(1));

  const auto ignored = daemon.say(WorkerId(1), api::SwitchedMessage{.generation = 1}, NodeId(2));
  check_nothing(ignored);
  CHECK(all<ReportIgnoredNote>(ignored.notes).size() == 1);
}

TEST_CASE("an exit is learnt once and acknowledged each time") {
  Daemon daemon;
  daemon.start();
  const WorkerExitedItem exit{NodeId(1), {.report = 5, .worker = WorkerId(2), .exit_code = 1}};
  const auto result = daemon.take(exit);
  CHECK(facts<core::WorkerExited>(result).size() == 1);
  REQUIRE(messages<api::ReportAck>(result).size() == 1);
  CHECK(messages<api::ReportAck>(result).front().report == 5);
  const auto again = daemon.take(exit);
  CHECK(facts<core::WorkerExited>(again).empty());
  CHECK(messages<api::ReportAck>(again).size() == 1);
}

TEST_CASE("a command that ends well without a word, and whose job has never stepped, has never joined") {
  const auto told = [](const std::string& trainer, bool is_ready, int exit_code) {
    Daemon daemon;
    core::JobSpec spec = two_workers();
    core::RunSpec run{.trainer = trainer};
    if (trainer.empty()) run.command = {"python3", "train.py"};
    spec.run = std::move(run);
    (void)daemon.take(AgentHelloItem{1, hello_of("n1")}, command(SubmitJob{spec}));
    if (is_ready) (void)daemon.say(WorkerId(2), api::ReadyMessage{});
    const auto result =
        daemon.take(WorkerExitedItem{NodeId(1), {.report = 5, .worker = WorkerId(2), .exit_code = exit_code}});
    const auto exits = facts<core::WorkerExited>(result);
    REQUIRE(exits.size() == 1);
    return exits.front().never_joined;
  };
  CHECK(told("", false, 0));
  CHECK_FALSE(told("", true, 0));
  CHECK_FALSE(told("", false, 1));
  CHECK_FALSE(told("charlm", false, 0));
}

TEST_CASE("of a member's exit is told whether its job has stepped since its start") {
  const auto told = [](bool is_member, bool has_stepped) {
    Daemon daemon;
    if (is_member) daemon.start();
    if (!is_member) (void)daemon.take(AgentHelloItem{1, hello_of("n1")}, command(SubmitJob{two_workers()}));
    if (has_stepped) (void)daemon.say(WorkerId(1), api::SwitchedMessage{.generation = 1});
    if (has_stepped) (void)daemon.say(WorkerId(1), steps());
    const auto result = daemon.take(WorkerExitedItem{NodeId(1), {.report = 5, .worker = WorkerId(2), .exit_code = 2}});
    const auto exits = facts<core::WorkerExited>(result);
    REQUIRE(exits.size() == 1);
    return exits.front().never_stepped;
  };
  CHECK(told(true, false));
  CHECK_FALSE(told(true, true));
  CHECK_FALSE(told(false, false));
}

TEST_CASE("slots that stay held are a fact once, of a worker of that node alone") {
  Daemon daemon;
  daemon.start();
  const SlotsHeldItem item{
      NodeId(1), {.worker = WorkerId(2), .for_ms = 5'000, .why = "memory of GPU-1 is still held", .exit_code = 1}};
  const auto held = daemon.take(item);
  REQUIRE(facts<core::SlotsHeld>(held).size() == 1);
  CHECK(facts<core::SlotsHeld>(held).front().lasted == Duration::seconds(5));
  CHECK(all<SlotsHeldNote>(held.notes).size() == 1);
  check_nothing(daemon.take(item));  // the agent has been welcomed again
  check_nothing(daemon.take(SlotsHeldItem{NodeId(2), {.worker = WorkerId(1)}}));
}

TEST_CASE("a stuck worker and a node's figures are facts") {
  Daemon daemon;
  daemon.start();
  const auto stuck = daemon.take(WorkerStuckItem{NodeId(1), {.worker = WorkerId(2), .for_ms = 60'000}});
  CHECK(facts<core::WorkerStuck>(stuck).size() == 1);
  CHECK(all<WorkerStuckNote>(stuck.notes).size() == 1);
  check_nothing(daemon.take(WorkerStuckItem{NodeId(2), {.worker = WorkerId(2)}}));
  CHECK(facts<core::NodeProbed>(daemon.take(NodeProbedItem{NodeId(1), {{{"cpu", 10, 2}}}})).size() == 1);
  CHECK(all<ReportRefusedNote>(daemon.take(NodeProbedItem{NodeId(8), {{{"cpu", 10, 2}}}}).notes).size() == 1);
}

TEST_CASE("a notice is a fact once, however often it is told, and its end too") {
  Daemon daemon;
  daemon.start();
  const auto tell = [&](std::optional<std::int64_t> in_ms) {
    return facts<core::NodeReclaimNoticed>(daemon.take(NodeReclaimItem{NodeId(1), {in_ms}})).size();
  };
  CHECK(tell({}) == 0);  // there was none
  CHECK(tell(90'000) == 1);
  CHECK(tell(90'000) == 0);
  CHECK(tell(95'000) == 0);
  CHECK(tell(89'500) == 0);
  CHECK(tell(30'000) == 1);
  CHECK(tell({}) == 1);
  CHECK(tell({}) == 0);
  const auto strange = daemon.take(NodeReclaimItem{NodeId(8), {1'000}});
  CHECK(facts<core::NodeReclaimNoticed>(strange).empty());
  CHECK(all<ReportRefusedNote>(strange.notes).size() == 1);
}

TEST_CASE("states of ended jobs may go, those of failed ones later; unknown and running jobs are left alone") {
  Daemon daemon;
  daemon.start();
  daemon.stored.jobs = {{JobId(40), {"failed", daemon.now}}, {JobId(41), {"succeeded", daemon.now}}};
  const auto result = daemon.take(KeptJobsItem{NodeId(1), {{JobId(1), JobId(40), JobId(41), JobId(42)}}});
  const auto forgotten = messages<api::ForgetJob>(result);
  REQUIRE(forgotten.size() == 2);
  CHECK(forgotten[0].job == JobId(40));
  CHECK(forgotten[0].after_s > 0);
  CHECK(forgotten[1].job == JobId(41));
  CHECK(forgotten[1].after_s == 0);
}

TEST_CASE("states of a job of which retention has left nothing go, those of a job that the journal never had stay") {
  Daemon daemon;
  daemon.start();
  core::JobSpec waits = test::job_spec({.min = 4, .max = 4, .preferred = 4});  // job 1 has two of the four slots
  waits.run = core::RunSpec{.trainer = "charlm"};
  (void)daemon.take(command(SubmitJob{waits}));
  (void)daemon.take(command(CancelJob{JobId(2)}));
  (void)daemon.take(command(SubmitJob{waits}));
  REQUIRE(daemon.turn.state().find_job(JobId(2)) == nullptr);
  REQUIRE(daemon.turn.state().next_job == 4);
  const auto forgotten = messages<api::ForgetJob>(
      daemon.take(KeptJobsItem{NodeId(1), {{JobId(1), JobId(2), JobId(3), JobId(4), JobId(5)}}}));
  REQUIRE(forgotten.size() == 1);
  CHECK(forgotten[0].job == JobId(2));
  CHECK(forgotten[0].after_s == 0);
}

TEST_CASE("a job that a report of kept states names again and again is answered once") {
  Daemon daemon;
  daemon.start();
  daemon.stored.jobs = {{JobId(41), {"succeeded", daemon.now}}};
  const auto result = daemon.take(KeptJobsItem{NodeId(1), {std::vector<JobId>(1'000, JobId(41))}});
  CHECK(messages<api::ForgetJob>(result).size() == 1);
}

TEST_CASE("of a report of kept states 10,000 jobs are looked at") {
  Daemon daemon;
  daemon.start();
  daemon.stored.jobs = {{JobId(20'000), {"succeeded", daemon.now}}, {JobId(20'001), {"succeeded", daemon.now}}};
  api::KeptJobsReport report;
  for (std::uint64_t id = 10'001; id <= 20'001; ++id) report.jobs.emplace_back(id);
  const auto forgotten = messages<api::ForgetJob>(daemon.take(KeptJobsItem{NodeId(1), report}));
  REQUIRE(forgotten.size() == 1);
  CHECK(forgotten[0].job == JobId(20'000));
}

TEST_CASE("a wanted checkpoint is ordered of all members, and again when a switch is told while it is wanted") {
  Daemon daemon;
  daemon.start();
  const auto orders_of = [](const TurnResult& result) {
    const auto told = messages<api::ToWorkerOrder>(result);
    return std::count_if(told.begin(), told.end(),
                         [](const auto& order) { return std::holds_alternative<api::CheckpointOrder>(order.message); });
  };
  CHECK(orders_of(daemon.say(WorkerId(1), api::SwitchedMessage{.generation = 1})) == 0);
  CHECK(orders_of(daemon.take(command(CheckpointJob{JobId(1)}))) == 2);
  CHECK(orders_of(daemon.say(WorkerId(1), api::SwitchedMessage{.generation = 1})) == 2);
}

}  // namespace tidepool::leader
