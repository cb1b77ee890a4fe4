// Each command of users: which rows and which answer it leaves.
#include "schedulerd/leader/user_commands.hpp"

#include <cstddef>
#include <set>

#include "schedulerd/leader/job_change.hpp"
#include "tests/support/reasons.hpp"
#include "tests/unit/leader/turn_scene.hpp"

namespace tidepool::leader {

TEST_CASE("a batch of which one job is refused leaves no row") {
  Daemon daemon;
  core::JobSpec bad = two_workers();
  bad.elastic.min = 9;
  const auto result = daemon.take(command(SubmitJobs{{two_workers(), bad}}, "k"));
  CHECK_FALSE(result.answers.front().receipt.ok());
  check_nothing(result);
  CHECK(daemon.take(command(SubmitJobs{{two_workers(), two_workers()}})).answers.front().receipt->job == JobId(1));
}

TEST_CASE("tenants are set as a whole, and a batch for one of them is refused before its first job is stored") {
  Daemon daemon;
  const core::TenantTree tree{.tenants = {{.name = "lab", .guarantee = 4, .job_slots_max = 2}}};
  const auto set = daemon.take(command(ConfigureTenants{tree}, "k"));
  REQUIRE(facts<core::TenantsConfigured>(set).size() == 1);
  CHECK(*daemon.turn.state().tenants == tree);
  const auto late = daemon.take(command(ConfigureTenants{{}, core::TenantTree()}, "late"));
  CHECK(late.answers.front().receipt.error().code == ErrorCode::kOutdated);
  CHECK(*daemon.turn.state().tenants == tree);
  const auto again = daemon.take(command(ConfigureTenants{tree}, "before"));
  CHECK(again.answers.front().receipt->replayed);
  core::JobSpec good = two_workers();
  good.tenant = "lab";
  core::JobSpec unknown = two_workers();
  unknown.tenant = "sea";
  const auto refused = daemon.take(command(SubmitJobs{{good, unknown}}));
  check_nothing(refused);
  const Error& why = refused.answers.front().receipt.error();
  CHECK(why.code == ErrorCode::kInvalidArgument);
  CHECK_THAT(why.message, Catch::Matchers::Contains("index 1") && Catch::Matchers::Contains("no tenant \"sea\""));
  CHECK(daemon.take(command(SubmitJobs{{good, good}})).answers.front().receipt.ok());
  // A tree without a tenant that has jobs is refused, and leaves the one before.
  const auto without = daemon.take(command(ConfigureTenants{{.tenants = {{.name = "sea"}}}}));
  CHECK(without.answers.front().receipt.error().code == ErrorCode::kConflict);
  CHECK(*daemon.turn.state().tenants == tree);
}

TEST_CASE("a batch that would cross jobs_max of its tenant is refused whole, also after another one in the same turn") {
  Daemon daemon;
  (void)daemon.take(command(ConfigureTenants{{.tenants = {{.name = "lab", .jobs_max = 5}}}}));
  core::JobSpec spec = two_workers();
  spec.tenant = "lab";
  const std::vector<core::JobSpec> three(3, spec);
  const auto result = daemon.take(command(SubmitJobs{three}), command(SubmitJobs{three}, "k"),
                                  command(SubmitJobs{{spec, spec}}), command(SubmitJob{spec}));
  REQUIRE(result.answers.size() == 4);
  CHECK(result.answers[0].receipt.ok());
  const Error& why = result.answers[1].receipt.error();
  CHECK(why.code == ErrorCode::kLimitExceeded);
  CHECK_THAT(why.message, Catch::Matchers::StartsWith("the job with index 2 is refused: ") &&
                              Catch::Matchers::Contains("it has 3 jobs waiting, running or suspended, and 2 before "
                                                        "this one in the batch; submit it again once"));
  CHECK(result.answers[2].receipt.ok());
  CHECK(result.answers[3].receipt.error().code == ErrorCode::kLimitExceeded);
  CHECK(facts<core::JobSubmitted>(result).size() == 5);
  CHECK(all<ReceiptRow>(result.rows).empty());
  // A job that has ended makes room in the turn in which it ends.
  (void)daemon.take(command(CancelJob{JobId(1)}));
  CHECK(daemon.take(command(SubmitJob{spec})).answers.front().receipt.ok());
  CHECK(daemon.take(command(SubmitJob{spec})).answers.front().receipt.error().code == ErrorCode::kLimitExceeded);
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
  CHECK(result.answers.front().receipt.error().message == "job-1 has already ended (cancelled)");
  CHECK(daemon.take(command(SuspendJob{JobId(1)})).answers.front().receipt.error().code == ErrorCode::kNotFound);
  daemon.stored.jobs[JobId(1)] = {"cancelled", daemon.now};
  CHECK(daemon.take(command(SuspendJob{JobId(1)})).answers.front().receipt.error().code == ErrorCode::kConflict);
}

TEST_CASE("a job that is being cancelled says so at once, and takes no other request while its workers leave") {
  Daemon daemon;
  daemon.start();
  (void)daemon.take(command(CancelJob{JobId(1)}));
  const core::Job& leaving = *daemon.turn.state().find_job(JobId(1));
  REQUIRE_FALSE(core::is_final(leaving.state()));
  CHECK(test::says<core::reason::CancelledByUser>(leaving.verdict.reason));
  const auto result = daemon.take(command(SuspendJob{JobId(1)}), command(ResizeJob{JobId(1), 2}),
                                  command(CheckpointJob{JobId(1)}), command(ChangeJob{JobId(1), {{"priority", 3}}}));
  for (const auto& answer : result.answers) {
    CHECK(answer.receipt.error().message == "job-1 is being cancelled; its workers are leaving");
  }
  CHECK(daemon.take(command(CancelJob{JobId(1)})).answers.front().receipt.ok());
}

TEST_CASE("a job that runs is changed to keep slots for good within its tenant's guarantee only") {
  Daemon daemon;
  (void)daemon.take(command(ConfigureTenants{{.tenants = {{.name = "lab", .guarantee = 2}}}}));
  core::JobSpec spec = test::job_spec({.min = 1, .max = 2, .preferred = 2});
  spec.tenant = "lab";
  spec.run = core::RunSpec{.trainer = "charlm"};
  core::JobSpec firm = spec;
  firm.preemptible = false;
  (void)daemon.take(AgentHelloItem{1, hello_of("n1")}, command(SubmitJob{firm}), command(SubmitJob{spec}));
  REQUIRE_FALSE(daemon.turn.state().find_job(JobId(2))->membership.workers.empty());
  const nlohmann::json own = {{"scaling", {{"policy", "fixed"}}}};
  const auto refused = daemon.take(command(ChangeJob{JobId(2), own}));
  CHECK(
      refused.answers.front().receipt.error().message ==
      "job-2 would keep 2 slots for good after this change; tenant \"lab\" is guaranteed 2, of which 1 are kept so by "
      "other jobs");
  check_nothing(refused);
  CHECK(daemon.take(command(ChangeJob{JobId(2), {{"preemptible", false}}})).answers.front().receipt.ok());
  CHECK_FALSE(daemon.take(command(ChangeJob{JobId(1), own})).answers.front().receipt.ok());
  CHECK(daemon.take(command(ChangeJob{JobId(1), {{"preemptible", true}}})).answers.front().receipt.ok());
}

TEST_CASE("of two changes of a job in one turn neither undoes the other, and one that no longer fits is refused") {
  Daemon daemon;
  daemon.start();
  const auto result = daemon.take(command(ChangeJob{JobId(1), {{"priority", 3}}}),
                                  command(ChangeJob{JobId(1), {{"labels", {{"team", "red"}}}}}),
                                  command(ChangeJob{JobId(1), {{"elastic", {{"min", 3}}}}}));
  const core::JobSpec& spec = daemon.turn.state().find_job(JobId(1))->spec;
  CHECK(spec.priority == 3);
  CHECK(spec.labels.at("team") == "red");
  CHECK(facts<core::JobChanged>(result).size() == 2);
  CHECK(result.answers[2].receipt.error().code == ErrorCode::kInvalidArgument);
  CHECK(result.answers[2].receipt.error().message.starts_with("/elastic/"));
}

TEST_CASE("a change of a job to what it is leaves no fact, and is refused where any other would be") {
  Daemon daemon;
  daemon.start();
  const ChangeJob change{JobId(1), {{"priority", 3}}};
  REQUIRE(facts<core::JobChanged>(daemon.take(command(change))).size() == 1);
  const auto again = daemon.take(command(change));
  REQUIRE(again.answers.front().receipt.ok());
  CHECK(again.answers.front().receipt->job == JobId(1));
  CHECK(facts<core::JobChanged>(again).empty());
  (void)daemon.take(command(CancelJob{JobId(1)}));
  CHECK_FALSE(daemon.take(command(change)).answers.front().receipt.ok());
}

TEST_CASE("events name the token of the command that they follow from, and others name none") {
  Daemon daemon;
  daemon.start();
  const auto result = daemon.take(command(ResizeJob{JobId(1), 2}), AgentLostItem{"n1", "silent"});
  std::set<std::string> of_user;
  for (const auto& row : all<FactRow>(result.rows)) {
    for (const core::Event& event : row.events) {
      if (event.actor == "t") of_user.insert(event.type);
      CHECK((event.actor == "t" || event.actor.empty()));
      CHECK((event.type != "node.lost" || event.actor.empty()));
    }
  }
  CHECK(of_user == std::set<std::string>{"job.resize_requested"});
}

TEST_CASE("a command that is bound to the job as it was read is refused once another has changed it") {
  Daemon daemon;
  daemon.start();
  const auto bound = [&](CommandBody body) {
    const core::Job& job = *daemon.turn.state().find_job(JobId(1));
    Command made = command(std::move(body));
    made.only_of = JobVersion{job.id, job_etag(job, file_text(job))};
    return made;
  };
  const auto result = daemon.take(bound(ChangeJob{JobId(1), {{"priority", 3}}}),
                                  bound(ChangeJob{JobId(1), {{"priority", 4}}}), bound(SuspendJob{JobId(1)}));
  CHECK(result.answers[0].receipt.ok());
  for (const std::size_t late : {1U, 2U}) {
    CHECK(result.answers[late].receipt.error().code == ErrorCode::kOutdated);
    CHECK(result.answers[late].receipt.error().message == "job-1 has changed since it was read");
  }
  CHECK(daemon.turn.state().find_job(JobId(1))->spec.priority == 3);
  CHECK(daemon.take(bound(SuspendJob{JobId(1)})).answers.front().receipt.ok());
}

TEST_CASE("a command that may only repeat another gets the answer of that one, and is refused where there is none") {
  Daemon daemon;
  daemon.start();
  const auto suspend = [](const char* key, bool only_repeats) {
    Command made = command(SuspendJob{JobId(1)}, key);
    made.only_repeats = only_repeats;
    return made;
  };
  const auto refused = daemon.take(suspend("k", true));
  check_nothing(refused);
  CHECK(refused.answers.front().receipt.error().code == ErrorCode::kOutdated);
  const auto result = daemon.take(suspend("k", false), suspend("k", true), suspend("other", true));
  CHECK_FALSE(result.answers[0].receipt->replayed);
  CHECK(result.answers[1].receipt->replayed);
  CHECK(result.answers[2].receipt.error().code == ErrorCode::kOutdated);
}

TEST_CASE("a limit of time that the job has passed is refused in place of ending the job") {
  core::Job job;
  job.id = JobId(12);
  core::JobSpec to = job.spec;
  to.max_duration = Duration::seconds(60);
  const Instant start = Instant::from_micros(5'000'000);
  CHECK(check_time_left(job, to, start + Duration::seconds(1'000)).ok());  // it has not started
  job.started_at = start;
  CHECK(check_time_left(job, to, start + Duration::seconds(59)).ok());
  const Status refused = check_time_left(job, to, start + Duration::millis(75'400));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kConflict);
  CHECK(refused.error().message ==
        "job-12 has run for 75s, and limits.max_duration counts from its first step: " + to_text(*to.max_duration) +
            " would end it at once, as failed; to end it, cancel it");
  job.spec.max_duration = to.max_duration;  // another change of a job that ends soon anyhow
  CHECK(check_time_left(job, to, start + Duration::seconds(75)).ok());
}

TEST_CASE("to end the drain of a node that its pool gives back is refused, and the fact of an earlier version is not") {
  Daemon daemon;
  core::PoolSpec gpu{.name = "gpu", .slots_per_node = 4, .min = 1, .max = 1, .lead_time = Duration::seconds(30)};
  (void)daemon.take(PoolReportItem{core::PoolsConfigured{.spot_share = 1, .pools = {gpu}}});
  (void)daemon.take(AgentHelloItem{1, hello_of("gpu-1")});
  gpu.min = gpu.max = 0;
  (void)daemon.take(PoolReportItem{core::PoolsConfigured{.spot_share = 1, .pools = {gpu}}});
  REQUIRE(daemon.turn.state().pools.find_node(1)->state == core::PoolNodeState::kReleasing);
  const auto result = daemon.take(command(UndrainNode{NodeId(1)}));
  check_nothing(result);
  CHECK(result.answers.front().receipt.error().code == ErrorCode::kConflict);
  CHECK(result.answers.front().receipt.error().message == "gpu-1 is being given back by its pool");
  core::Engine engine(test::plain_parts(daemon.job_answers), daemon.turn.state());
  CHECK(engine.step({daemon.now, core::NodeDrainCancelled{NodeId(1)}}).ok());
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

TEST_CASE("of tokens of admins that are revoked in one turn the last valid one stays") {
  Daemon daemon;
  daemon.stored.token_records = {{.id = "one", .role = "admin"},
                                 {.id = "two", .role = "admin"},
                                 {.id = "ended", .role = "admin", .expires_unix_s = 2'000},
                                 {.id = "red", .role = "admin", .tenant = "red"}};
  const auto result = daemon.take(command(RevokeToken{"one", 2'000}), command(RevokeToken{"two", 2'000}),
                                  command(RevokeToken{"red", 2'000}), command(RevokeToken{"ended", 2'000}));
  CHECK(all<TokenRevokedRow>(result.rows).size() == 3);
  const Error& why = result.answers[1].receipt.error();
  CHECK(why.code == ErrorCode::kLastAdmin);
  CHECK(why.message ==
        "two is the last valid token of an admin of the whole pool; without it there would be no administrator");
  daemon.stored.token_records.erase(daemon.stored.token_records.begin());
  const auto with_new = daemon.take(command(CreateToken{.id = "new", .name = "n", .role = "admin"}),
                                    command(RevokeToken{"two", 2'000}), command(RevokeToken{"new", 2'000}));
  CHECK(all<TokenRevokedRow>(with_new.rows).size() == 1);
  CHECK_FALSE(with_new.answers[2].receipt.ok());
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

}  // namespace tidepool::leader
