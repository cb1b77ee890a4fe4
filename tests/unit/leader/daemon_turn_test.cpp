// Each kind of item in a turn: which rows, answers, orders and notes it leaves.
#include "schedulerd/leader/daemon_turn.hpp"

#include <algorithm>

#include "tests/support/cluster_builders.hpp"

namespace tidepool::leader {
namespace {

const std::string kVersion(64, 'a');

// What the storage holds from before.
class Stored final : public TurnReads {
 public:
  Result<std::optional<StoredReceipt>> receipt_for(const Idempotency& request) override {
    if (fails) return io_error("the disk is gone");
    return request.key == "before" ? std::optional(receipt) : std::nullopt;
  }
  Result<std::optional<EndedNote>> ended(JobId job) override {
    if (fails) return io_error("the disk is gone");
    const auto found = jobs.find(job);
    return found == jobs.end() ? std::nullopt : std::optional(found->second);
  }
  Result<bool> has_token(const std::string& id) override { return id == "old"; }
  Result<std::optional<PolicyVersion>> policy_version(const std::string&, const std::string&) override {
    return std::optional<PolicyVersion>();
  }
  Status can_run(const PolicyVersion& version, const std::string&) override {
    return version.source == "good" ? ok_status() : Status(invalid_argument("its source cannot be read"));
  }

  bool fails = false;
  StoredReceipt receipt{.request_hash = "h", .job = JobId(7), .token_id = {}};
  std::map<JobId, EndedNote> jobs;
};

core::JobSpec two_workers() {
  core::JobSpec spec = test::job_spec({.min = 2, .max = 2, .preferred = 2});
  spec.run = core::RunSpec{.trainer = "charlm"};
  return spec;
}

api::AgentHello hello_of(const std::string& node) {
  return {.token = "", .node = node, .slots = 4, .slot_type = "cpu", .price_per_slot_hour = "1.00", .running = {}};
}

Command command(CommandBody body, const std::string& key = "", const std::string& hash = "h") {
  Command made{.body = std::move(body), .actor = "t", .idempotency = {}};
  if (!key.empty()) made.idempotency = {.key = key, .token_id = "t", .request_hash = hash};
  return made;
}

template <class Wanted, class Variant>
std::vector<Wanted> all(const std::vector<Variant>& from) {
  std::vector<Wanted> found;
  for (const auto& each : from) {
    if (const auto* wanted = std::get_if<Wanted>(&each)) found.push_back(*wanted);
  }
  return found;
}

template <class Fact>
std::vector<Fact> facts(const TurnResult& result) {
  std::vector<Fact> found;
  for (const auto& row : all<FactRow>(result.rows)) {
    if (const auto* fact = std::get_if<Fact>(&row.fact.fact)) found.push_back(*fact);
  }
  return found;
}

template <class Message>
std::vector<Message> messages(const TurnResult& result) {
  std::vector<Message> found;
  for (const auto& order : all<NodeMessage>(result.orders)) {
    if (const auto* message = std::get_if<Message>(&order.message)) found.push_back(*message);
  }
  return found;
}

// A turn of a daemon each second.
struct Daemon {
  Stored stored;
  std::shared_ptr<test::WishPolicy::Wishes> wishes = std::make_shared<test::WishPolicy::Wishes>();
  DaemonTurn turn{core::Engine(test::plain_parts(wishes))};
  Instant now = Instant::from_micros(1'000'000);

  template <class... Items>
  TurnResult take(Items... item) {
    now = now + Duration::seconds(1);
    std::vector<TurnItem> items;
    (items.emplace_back(std::move(item)), ...);
    auto result = turn.run(std::move(items), now, stored);
    REQUIRE(result.ok());
    return *std::move(result);
  }
  TurnResult say(WorkerId worker, api::FromWorker message, NodeId node = NodeId(1)) {
    return take(FromWorkerItem{node, {.worker = worker, .message = std::move(message)}});
  }
  // Job 1 with workers 1 and 2 on node 1, in generation 1.
  void start() {
    (void)take(AgentHelloItem{1, hello_of("n1")}, command(SubmitJob{two_workers()}));
    (void)say(WorkerId(1), api::ReadyMessage{});
    (void)say(WorkerId(2), api::ReadyMessage{});
    REQUIRE(turn.state().find_job(JobId(1))->membership.generation == 1);
  }
};

api::StepsMessage steps() {
  return {.generation = 1,
          .last_step = 1,
          .steps = 1,
          .elapsed_us = 50'000,
          .samples = 64,
          .compute_us = {20'000, 30'000},
          .samples_total = 64};
}

void check_nothing(const TurnResult& result) {
  CHECK(result.rows.empty());
  CHECK(result.orders.empty());
  CHECK_FALSE(result.changed);
}

}  // namespace

TEST_CASE("a submitted job is a fact with its events, and its answer names it by its place among the items") {
  Daemon daemon;
  const auto result = daemon.take(AgentLostItem{"n9", "gone"}, command(SubmitJob{two_workers()}));
  REQUIRE(facts<core::JobSubmitted>(result).size() == 1);
  CHECK_FALSE(all<FactRow>(result.rows).front().events.empty());
  REQUIRE(result.answers.size() == 1);
  CHECK(result.answers.front().item == 1);
  CHECK(result.answers.front().receipt->job == JobId(1));
  CHECK(result.changed);
  CHECK(result.orders.empty());
}

TEST_CASE("a job that fits is started in the turn that it comes in") {
  Daemon daemon;
  (void)daemon.take(AgentHelloItem{1, hello_of("n1")});
  const auto result = daemon.take(command(SubmitJob{two_workers()}));
  CHECK(result.planned);
  REQUIRE(all<DecisionRow>(result.rows).size() == 1);
  CHECK(all<WorkerRow>(result.rows).size() == 2);
  const auto starts = messages<api::StartWorker>(result);
  REQUIRE(starts.size() == 2);
  CHECK(starts.front().program == "tidepool-trainer");
  // The fact comes before what follows from it.
  CHECK(std::holds_alternative<FactRow>(result.rows.front()));
}

TEST_CASE("a job whose document names no program is noted, and no order is made for it") {
  Daemon daemon;
  (void)daemon.take(AgentHelloItem{1, hello_of("n1")});
  const auto result = daemon.take(command(SubmitJob{test::job_spec({})}));
  CHECK(messages<api::StartWorker>(result).empty());
  CHECK(all<StartImpossibleNote>(result.notes).size() == 1);
}

TEST_CASE("a batch of which one job is refused leaves no row") {
  Daemon daemon;
  core::JobSpec bad = two_workers();
  bad.elastic.min = 9;
  const auto result = daemon.take(command(SubmitJobs{{two_workers(), bad}}, "k"));
  CHECK_FALSE(result.answers.front().receipt.ok());
  check_nothing(result);
  CHECK(daemon.take(command(SubmitJobs{{two_workers(), two_workers()}})).answers.front().receipt->job == JobId(1));
}

TEST_CASE("a refused command leaves no row, not even one for its key") {
  Daemon daemon;
  const auto result = daemon.take(command(CancelJob{JobId(3)}, "k"));
  REQUIRE(result.answers.size() == 1);
  CHECK_FALSE(result.answers.front().receipt.ok());
  check_nothing(result);
}

TEST_CASE("a key used twice in one turn submits one job and gives the same receipt again") {
  Daemon daemon;
  const auto result = daemon.take(command(SubmitJob{two_workers()}, "k"), command(SubmitJob{two_workers()}, "k"),
                                  command(SubmitJob{two_workers()}, "k", "another request"));
  CHECK(facts<core::JobSubmitted>(result).size() == 1);
  CHECK(all<ReceiptRow>(result.rows).size() == 1);
  REQUIRE(result.answers.size() == 3);
  CHECK_FALSE(result.answers[0].receipt->replayed);
  CHECK(result.answers[1].receipt->replayed);
  CHECK(result.answers[1].receipt->job == JobId(1));
  CHECK(result.answers[2].receipt.error().code == ErrorCode::kConflict);
}

TEST_CASE("a key that the storage knows changes nothing") {
  Daemon daemon;
  const auto again = daemon.take(command(SubmitJob{two_workers()}, "before"));
  CHECK(again.answers.front().receipt->job == JobId(7));
  CHECK(again.answers.front().receipt->replayed);
  CHECK(facts<core::JobSubmitted>(again).empty());
  const auto other = daemon.take(command(SubmitJob{two_workers()}, "before", "another request"));
  CHECK(other.answers.front().receipt.error().code == ErrorCode::kConflict);
  CHECK(facts<core::JobSubmitted>(other).empty());
}

TEST_CASE("a job that has ended and left is told from one that was never there, in its own turn and after it") {
  Daemon daemon;
  daemon.start();
  // It ends while its node is away, and leaves the state when the node says that its workers are gone.
  (void)daemon.take(AgentLostItem{"n1", "silent"}, command(CancelJob{JobId(1)}));
  REQUIRE(core::is_final(daemon.turn.state().find_job(JobId(1))->state()));
  const auto result = daemon.take(AgentHelloItem{2, hello_of("n1")}, command(ResizeJob{JobId(1), 2}));
  REQUIRE(all<EndedJobRow>(result.rows).size() == 1);
  CHECK(all<EndedJobRow>(result.rows).front().job->id == JobId(1));
  CHECK(result.answers.front().receipt.error().message == "job-1 has already cancelled");
  CHECK(daemon.take(command(SuspendJob{JobId(1)})).answers.front().receipt.error().code == ErrorCode::kNotFound);
  daemon.stored.jobs[JobId(1)] = {"cancelled", daemon.now};
  CHECK(daemon.take(command(SuspendJob{JobId(1)})).answers.front().receipt.error().code == ErrorCode::kConflict);
}

TEST_CASE("a failed lookup ends the turn with the storage's error, whatever asked") {
  Daemon daemon;
  daemon.stored.fails = true;
  const auto keyed = daemon.turn.run({command(SubmitJob{two_workers()}, "k")}, daemon.now, daemon.stored);
  REQUIRE_FALSE(keyed.ok());
  CHECK(keyed.error().message == "the disk is gone");
  CHECK_FALSE(daemon.turn.run({KeptJobsItem{NodeId(1), {{JobId(4)}}}}, daemon.now, daemon.stored).ok());
}

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

TEST_CASE("a token is a row for readers, and is revoked by its id, in its own turn, too") {
  Daemon daemon;
  const auto result =
      daemon.take(command(CreateToken{.id = "new", .name = "n", .role = "viewer"}), command(RevokeToken{"new"}),
                  command(RevokeToken{"old"}), command(RevokeToken{"unknown"}));
  CHECK(all<TokenRow>(result.rows).size() == 1);
  CHECK(result.answers[0].receipt->token_id == "new");
  CHECK(all<TokenRevokedRow>(result.rows).size() == 2);
  CHECK(result.answers[3].receipt.error().code == ErrorCode::kNotFound);
  CHECK_FALSE(result.changed);
}

TEST_CASE("a policy file is stored, looked over, activated and shadowed; one that cannot be run is refused") {
  Daemon daemon;
  const core::PolicyFileRef good{"good", kVersion, "{}"};
  const core::PolicyFileRef bad{"bad", kVersion, "{}"};
  const auto result = daemon.take(command(StorePolicyVersion{{.name = "good", .version = kVersion, .source = "good"}}),
                                  command(StorePolicyVersion{{.name = "bad", .version = kVersion, .source = "bad"}}),
                                  command(NotePolicyChecks{"good", kVersion, {.runs = true}}),
                                  command(ActivatePolicy{good}), command(ActivatePolicy{bad}),
                                  command(ShadowPolicy{{{"absent", kVersion, "{}"}}}), command(ShadowPolicy{good}));
  REQUIRE(all<PolicyVersionRow>(result.rows).size() == 2);
  CHECK(all<PolicyVersionRow>(result.rows).front().version.created_by == "t");
  CHECK(all<PolicyChecksRow>(result.rows).size() == 1);
  CHECK(facts<core::PolicyActivated>(result).size() == 1);
  CHECK(result.answers[4].receipt.error().message == "its source cannot be read");
  CHECK(result.answers[5].receipt.error().code == ErrorCode::kNotFound);
  REQUIRE(all<ShadowRow>(result.rows).size() == 1);
  CHECK(all<ShadowRow>(result.rows).front().file == good);
  CHECK(result.planned);
  CHECK(daemon.take(command(RollBackPolicy{"bad", "why"})).answers.front().receipt.error().code ==
        ErrorCode::kConflict);
  CHECK(facts<core::PolicyRolledBack>(daemon.take(command(RollBackPolicy{"good", "why"}))).size() == 1);
}

TEST_CASE("of the policy file in charge a late answer counts for nothing, and a missing one is a failed round") {
  Daemon daemon;
  (void)daemon.take(command(StorePolicyVersion{{.name = "good", .version = kVersion, .source = "good"}}),
                    command(ActivatePolicy{core::PolicyFileRef{"good", kVersion, "{}"}}));
  const std::int64_t number = daemon.turn.state().deployment.next_round;
  const auto late = daemon.take(PolicyRoundItem{{.number = number - 1}});
  check_nothing(late);
  CHECK(all<PolicyAnswerLateNote>(late.notes).size() == 1);

  daemon.turn.await({.number = number, .until = daemon.now + Duration::seconds(3)});
  CHECK(daemon.turn.next_due() == daemon.now + Duration::seconds(3));
  CHECK(facts<core::PolicyAnswered>(daemon.take()).empty());
  (void)daemon.take();
  const auto missed = facts<core::PolicyAnswered>(daemon.take());
  REQUIRE(missed.size() == 1);
  CHECK(missed.front().round.fault == "policy.deadline");

  const auto failed = daemon.take(PolicyRoundItem{
      {.number = daemon.turn.state().deployment.next_round, .fault = "policy.error", .message = "line 3"}});
  CHECK(facts<core::PolicyAnswered>(failed).size() == 1);
  CHECK(all<PolicyFailedNote>(failed.notes).size() == 1);
}

TEST_CASE("the first turn decides though nothing has come in, and then time alone is no ground") {
  Daemon daemon;
  CHECK(daemon.turn.has_more_to_decide());
  check_nothing(daemon.take());
  CHECK_FALSE(daemon.turn.has_more_to_decide());
  check_nothing(daemon.take());
}

}  // namespace tidepool::leader
