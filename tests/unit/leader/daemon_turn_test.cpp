// What a turn comes to as a whole: rows in order, answers by item, rounds of policy files.
#include "schedulerd/leader/daemon_turn.hpp"

#include "tests/unit/leader/turn_scene.hpp"

namespace tidepool::leader {

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

TEST_CASE("a failed lookup ends the turn with the storage's error, whatever asked") {
  Daemon daemon;
  daemon.stored.fails = true;
  const auto keyed = daemon.turn.run({command(SubmitJob{two_workers()}, "k")}, daemon.now, daemon.stored);
  REQUIRE_FALSE(keyed.ok());
  CHECK(keyed.error().message == "the disk is gone");
  CHECK_FALSE(daemon.turn.run({KeptJobsItem{NodeId(1), {{JobId(4)}}}}, daemon.now, daemon.stored).ok());
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

TEST_CASE("UTC is a fact when it is new, and the end of a budget's window is one as soon as it is due") {
  Daemon daemon;
  const std::int64_t midnight = std::int64_t{20'000} * 86'400'000'000;
  const std::int64_t zero = midnight - daemon.now.count_us() - 3'500'000;  // three turns later it is past midnight
  daemon.turn.set_utc(zero);
  core::Tenant vision{.name = "vision"};
  vision.budget = {
      .limit = Money::micros(1), .window = core::BudgetWindow::kDay, .thresholds = {{100, core::BudgetAction::kPause}}};
  const auto first = daemon.take(command(ConfigureTenants{{.tenants = {vision}}}));
  CHECK(facts<core::UtcSet>(first).size() == 1);
  CHECK(facts<core::TenantsConfigured>(first).size() == 1);
  const Instant turn = Instant::from_micros(midnight - zero);
  CHECK(daemon.turn.next_due() == turn);
  std::size_t told = 0;
  for (int i = 0; i < 8; ++i) {
    const auto result = daemon.take();
    const bool due = turn <= daemon.now;
    CHECK(facts<core::UtcSet>(result).empty());
    CHECK(facts<core::ClockAdvanced>(result).size() == (due && told == 0 ? 1 : 0));
    told += facts<core::ClockAdvanced>(result).size();
  }
  CHECK(told == 1);
  CHECK(daemon.turn.next_due() == turn + Duration::seconds(86'400));
}

TEST_CASE("how faults of nodes count is a fact when it is new, and the end of a node's unsteadiness is one in time") {
  Daemon daemon;
  const core::NodeDamping damping{.half_life = Duration::seconds(10)};
  daemon.turn.set_damping(damping);
  CHECK(facts<core::NodeDampingConfigured>(daemon.take()).size() == 1);
  CHECK(daemon.turn.state().damping == damping);
  daemon.turn.set_damping(damping);
  CHECK(facts<core::NodeDampingConfigured>(daemon.take(AgentHelloItem{1, hello_of("n1")})).empty());
  for (int loss = 0; loss < 3; ++loss)
    (void)daemon.take(AgentLostItem{"n1", "gone"}, AgentHelloItem{1, hello_of("n1")});
  const auto takes_workers = [&] { return daemon.turn.state().find_node(NodeId(1))->takes_workers(); };
  REQUIRE_FALSE(takes_workers());
  const auto due = daemon.turn.next_due();
  REQUIRE(due);
  std::size_t told = 0;
  while (daemon.now < *due) {
    const auto result = daemon.take();
    told += facts<core::ClockAdvanced>(result).size();
    CHECK(takes_workers() == (*due <= daemon.now));
  }
  CHECK(told == 1);
}

TEST_CASE("which detector judges is a fact when it is new, and one that is not there is none") {
  Daemon daemon;
  daemon.turn.set_detector("plain");
  const auto told = facts<core::DetectorConfigured>(daemon.take());
  REQUIRE(told.size() == 1);
  CHECK(told.front().name == "plain");
  CHECK(daemon.turn.state().straggler_detector == "plain");
  daemon.turn.set_detector("plain");
  CHECK(facts<core::DetectorConfigured>(daemon.take(AgentHelloItem{1, hello_of("n1")})).empty());
  daemon.turn.set_detector("of another version");
  CHECK(facts<core::DetectorConfigured>(daemon.take(AgentHelloItem{1, hello_of("n1")})).empty());
  CHECK(daemon.turn.state().straggler_detector == "plain");
}

TEST_CASE(
    "a node that its pool has given back is lost without a note, and removed once its provider lists it no more") {
  Daemon daemon;
  (void)daemon.take(PoolReportItem{core::PoolsConfigured{1, {test::pool_spec("gpu")}}});
  (void)daemon.take(command(SubmitJob{two_workers()}));
  REQUIRE(daemon.turn.state().pools.find_name("gpu-1") != nullptr);
  // It has come into being all the same, and is ended.
  (void)daemon.take(PoolReportItem{core::PoolNodeCreateFailed{1, core::ProviderFault::kTimeout, "no answer"}});
  (void)daemon.take(AgentHelloItem{1, hello_of("gpu-1")});
  (void)daemon.take(PoolReportItem{core::PoolNodeDeleted{1}});
  const auto lost = daemon.take(AgentLostItem{"gpu-1", "silent"});
  CHECK(all<NodeLostNote>(lost.notes).empty());
  REQUIRE(facts<core::NodeLost>(lost).size() == 1);
  CHECK(facts<core::NodeLost>(lost).front().given_back);
  CHECK(facts<core::NodeRemoved>(lost).empty());
  const auto listed = daemon.take(PoolReportItem{core::PoolListed{
      .pool = "gpu", .asked_before = daemon.turn.state().pools.next_request, .nodes = {}, .begun_at = daemon.now}});
  CHECK(facts<core::NodeRemoved>(listed).size() == 1);
  CHECK(daemon.turn.state().nodes.empty());
}

TEST_CASE("the first turn decides though nothing has come in, and then time alone is no ground") {
  Daemon daemon;
  CHECK(daemon.turn.has_more_to_decide());
  check_nothing(daemon.take());
  CHECK_FALSE(daemon.turn.has_more_to_decide());
  check_nothing(daemon.take());
}

}  // namespace tidepool::leader
