// The engine under a policy file: when it asks, what it makes of the answer, and what of none. The rounds are written
// by hand; that real hosts give such is tested with real processes.
#include "policies/host/file_policy.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

#include "core/decide/plan_inputs.hpp"
#include "core/explain/explain.hpp"
#include "policies/registry.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::policies::host {
namespace {

const core::PolicyFileRef kFirst{"first", std::string(64, 'a'), "{}"};
const core::PolicyFileRef kSecond{"second", std::string(64, 'b'), "{}"};

class World {
 public:
  explicit World(int slots = 8) { learn(core::NodeJoined{engine.node_id_for("n"), "n", slots, "cpu", Money(), {}}); }

  JobId submit(int wanted, int most = 8) {
    const JobId id = engine.next_job_id();
    learn(core::JobSubmitted{id, test::job_spec({.max = most, .preferred = wanted})});
    return id;
  }
  // Events of the fact, then everything that follows from it.
  std::vector<core::Event> learn(core::Fact fact) {
    now = now + Duration::seconds(1);
    auto events = engine.step({now, std::move(fact)});
    REQUIRE(events.ok());
    decide();
    return *std::move(events);
  }
  void decide() {
    for (int round = 0; round < 8; ++round) {
      const core::Decision decision = engine.decide(now);
      REQUIRE(engine.validate(decision).ok());
      CHECK(test::Story::text_of(decision) == test::Story::text_of(engine.decide_from_scratch(now)));
      const bool done = decision.empty();
      engine.accept(decision);
      if (done) return;
    }
    FAIL("it goes on deciding");
  }
  core::PolicyRound round(const std::map<JobId, int>& sizes) const {
    core::PolicyRound round{.number = state().deployment.next_round, .asked_at = now};
    for (const auto& [id, size] : sizes) {
      core::PolicyJobAnswer wish{.job = id, .asked = core::digest_of_request(*state().find_job(id))};
      wish.size = size;
      wish.word = "Said";
      wish.numbers = {{"most", double(size)}};
      round.job_answers.push_back(wish);
    }
    return round;
  }
  core::PolicyRound fault() const {
    core::PolicyRound round{.number = state().deployment.next_round, .asked_at = now};
    round.fault = "policy.deadline";
    round.message = "too slow";
    return round;
  }
  // Joining workers boot, leaving workers leave, the members switch, and do so many steps.
  void train(JobId id, std::int64_t steps, Duration each) {
    for (int round = 0; round < 4; ++round) {
      const core::Job job = *state().find_job(id);
      for (const WorkerId worker : job.membership.workers) {
        const core::Worker& seen = *state().find_worker(worker);
        if (seen.phase == core::WorkerPhase::kStarting) learn(core::WorkerReady{worker});
        if (seen.phase == core::WorkerPhase::kLeaving && seen.stop_due) learn(core::WorkerExited{worker, 0, 0, ""});
      }
      const core::Job& now_is = *state().find_job(id);
      if (!now_is.membership.members.empty() && !now_is.membership.switched) {
        learn(core::GenerationSwitched{id, now_is.membership.generation, now_is.progress.step + 1, 12, 3, 0, 0, 1000});
      }
    }
    const core::Job& job = *state().find_job(id);
    core::StepsMeasured report{
        .job = id, .generation = job.membership.generation, .last_step = job.progress.step + steps};
    report.steps = steps;
    report.elapsed = each * steps;
    report.samples = job.spec.batch.global * steps;
    report.epoch = 1;
    learn(std::move(report));
  }
  // Answers the open question, then trains with the new size.
  void answer_and_train(JobId id, int size, Duration each) {
    now = now + Duration::seconds(30);  // its cooldown is over
    decide();
    REQUIRE(engine.pending_policy_request(now));
    learn(core::PolicyAnswered{round({{id, size}})});
    train(id, 60, each);
    CHECK(this->size(id) == size);
  }
  // Workers that it holds or is to hold.
  int size(JobId id) const {
    const core::Job& job = *state().find_job(id);
    return job.phase.transition() ? job.phase.transition()->to_size : job.size();
  }
  const core::ClusterState& state() const { return engine.view(); }

  Instant now;
  core::Engine engine{{.policies = make_policies("fixed").value(),
                       .stragglers = {std::make_shared<test::PlainDetector>()},
                       .config = {},
                       .file_policy = std::make_shared<const FilePolicy>(built_in_fallback())}};
};

// Whether the job is told that the policy in charge failed in so many rounds.
bool tells_of_failures(const World& world, JobId job, const std::string& rounds) {
  const std::string line = "policy " + core::short_name(*world.state().deployment.active) + " failed in its newest " +
                           rounds + ", so the built-in default decided; its error: schedctl policy status";
  const auto evidence = core::explain(world.state(), job).evidence;
  return std::find(evidence.begin(), evidence.end(), line) != evidence.end();
}

}  // namespace

TEST_CASE("while a policy file decides, a new job waits until it has been asked, and gets what it says") {
  World world;
  const JobId before = world.submit(2);
  CHECK(world.size(before) == 2);
  world.learn(core::PolicyActivated{kFirst});
  REQUIRE(world.engine.pending_policy_request(world.now));
  const JobId job = world.submit(4);
  CHECK(world.size(job) == 0);
  CHECK(test::says<core::reason::AwaitsPolicy>(world.state().find_job(job)->verdict.reason));
  world.learn(core::PolicyAnswered{world.round({{before, 2}, {job, 3}})});
  CHECK(world.size(job) == 3);
  CHECK(world.state().plan.policy == "first@aaaaaaaaaaaa");
  CHECK_FALSE(world.engine.pending_policy_request(world.now));
  const core::Reason& why = world.state().find_job(job)->verdict.reason;
  CHECK(core::word_of(why) == "Said");
  CHECK(core::sentence(why) == "started with 3 workers: its policy says Said (most 3)");
}

TEST_CASE("an answer to an older question changes nothing") {
  World world;
  world.learn(core::PolicyActivated{kFirst});
  const JobId job = world.submit(4);
  const core::PolicyRound late = world.round({{job, 1}});
  world.learn(core::PolicyActivated{kSecond});
  const std::uint64_t before = core::digest_of(world.state());
  const Instant at = world.now;
  CHECK(world.learn(core::PolicyAnswered{late}).empty());
  CHECK(world.size(job) == 0);
  CHECK(world.state().deployment.next_round > late.number);
  CHECK(world.engine.pending_policy_request(world.now) == world.state().deployment.next_round);
  CHECK(before != core::digest_of(world.state()));  // but for the time
  CHECK(world.now > at);
}

TEST_CASE("of a job that has changed or come since the question the answer says nothing, and it is asked again") {
  World world;
  world.learn(core::PolicyActivated{kFirst});
  const JobId changed = world.submit(2);
  const JobId same = world.submit(2);
  const core::PolicyRound answer = world.round({{changed, 2}, {same, 2}});
  core::JobSpec spec = world.state().find_job(changed)->spec;
  spec.elastic.preferred = 4;
  world.learn(core::JobChanged{changed, spec});
  const JobId later = world.submit(1);
  world.learn(core::PolicyAnswered{answer});
  CHECK(world.size(same) == 2);
  CHECK(world.size(changed) == 0);
  CHECK(world.size(later) == 0);
  REQUIRE(world.engine.pending_policy_request(world.now));
  world.learn(core::PolicyAnswered{world.round({{changed, 3}, {same, 2}, {later, 1}})});
  CHECK(world.size(changed) == 3);
  CHECK(world.size(later) == 1);
  CHECK_FALSE(world.engine.pending_policy_request(world.now));
}

TEST_CASE("sizes that do not fit any more become the largest that do") {
  World world(4);
  world.learn(core::PolicyActivated{kFirst});
  const JobId one = world.submit(4);
  const JobId two = world.submit(4);
  world.learn(core::PolicyAnswered{world.round({{one, 3}, {two, 3}})});
  CHECK(world.size(one) == 3);
  CHECK(world.size(two) == 1);
}

TEST_CASE("a failed round is decided by the built-in default, and three in a row are a rollback") {
  World world;
  world.learn(core::PolicyActivated{kFirst});
  world.learn(core::PolicyActivated{kSecond});
  for (int failures = 1; failures <= 3; ++failures) {
    const JobId job = world.submit(1, 1);
    const auto events = world.learn(core::PolicyAnswered{world.fault()});
    REQUIRE(events.at(0).type == "policy.error");
    CHECK(events[0].data["failures"] == failures);
    if (failures == 3) break;
    CHECK(world.size(job) == 1);
    CHECK(events.size() == 1);
    CHECK(tells_of_failures(world, job, failures == 1 ? "round" : "2 rounds"));
  }
  CHECK(world.state().deployment.active == kFirst);
  CHECK(world.state().deployment.failures == 0);
  world.learn(core::PolicyRolledBack{"asked for"});
  CHECK_FALSE(world.state().deployment.active);
  for (const auto& [id, job] : world.state().jobs) CHECK(world.size(id) == 1);
}

TEST_CASE("an answer between two failures starts the count anew") {
  World world;
  world.learn(core::PolicyActivated{kFirst});
  for (int turn = 0; turn < 5; ++turn) {
    const JobId job = world.submit(1, 1);
    world.learn(core::PolicyAnswered{turn % 2 == 0 ? world.fault() : world.round({{job, 1}})});
    CHECK(world.state().deployment.failures == (turn % 2 == 0 ? 1 : 0));
    CHECK(tells_of_failures(world, job, "round") == (turn % 2 == 0));
  }
  CHECK(world.state().deployment.active == kFirst);
}

TEST_CASE("an engine that is restarted in the middle of a question asks it again and decides the same") {
  World world;
  world.learn(core::PolicyActivated{kFirst});
  const JobId job = world.submit(4);
  const auto state = core::state_from_json(core::to_json(world.state()));
  REQUIRE(state.ok());
  World other;
  other.engine = core::Engine({.policies = make_policies("fixed").value(),
                               .stragglers = {std::make_shared<test::PlainDetector>()},
                               .config = {},
                               .file_policy = std::make_shared<const FilePolicy>(built_in_fallback())},
                              *state);
  other.now = world.now;
  CHECK(other.engine.pending_policy_request(other.now) == world.engine.pending_policy_request(world.now));
  for (World* each : {&world, &other}) each->learn(core::PolicyAnswered{each->round({{job, 3}})});
  CHECK(core::digest_of(world.state()) == core::digest_of(other.state()));
}

TEST_CASE("what is active cannot be activated again, and without a file there is nothing to roll back") {
  World world;
  CHECK_FALSE(world.engine.step({world.now, core::PolicyRolledBack{"x"}}).ok());
  CHECK_FALSE(world.engine.step({world.now, core::PolicyActivated{std::nullopt}}).ok());
  world.learn(core::PolicyActivated{kFirst});
  CHECK_FALSE(world.engine.step({world.now, core::PolicyActivated{kFirst}}).ok());
  core::PolicyFileRef params = kFirst;
  params.params = R"({"most":3})";
  CHECK(world.engine.step({world.now, core::PolicyActivated{params}}).ok());
  CHECK(world.state().deployment.earlier == std::vector<core::PolicyFileRef>{kFirst});
}

TEST_CASE("a file that only orders leaves sizes to the default policy, and one that only admits both") {
  World world;
  world.learn(core::PolicyActivated{kFirst});
  const JobId one = world.submit(2);
  const JobId two = world.submit(2);
  core::PolicyRound answer = world.round({{one, 0}, {two, 0}});
  for (core::PolicyJobAnswer& wish : answer.job_answers) {
    wish.size.reset();
    wish.word.clear();
    wish.rank = wish.job == one ? 1 : 0;
  }
  world.learn(core::PolicyAnswered{answer});
  CHECK(world.size(one) + world.size(two) == 8);  // all there is, not what their users want
  CHECK(world.state().find_job(two)->planned->target.place == 0);
  CHECK(core::word_of(world.state().find_job(two)->planned->target.reason).empty());
  const JobId three = world.submit(2);
  answer = world.round({{one, 0}, {two, 0}, {three, 0}});
  for (core::PolicyJobAnswer& wish : answer.job_answers) {
    wish.size.reset();
    wish.admitted = wish.job != three;
  }
  world.learn(core::PolicyAnswered{answer});
  CHECK(world.size(three) == 0);
  CHECK(world.size(one) + world.size(two) == 8);
}

TEST_CASE("a job that is back at a size that it has had is news only if it is faster or slower there than before") {
  World world;
  world.learn(core::PolicyActivated{kFirst});
  const JobId job = world.submit(2);
  const Duration usual = Duration::millis(100);
  world.answer_and_train(job, 2, usual);
  world.answer_and_train(job, 3, usual);  // a size was measured for the first time: asked again
  world.answer_and_train(job, 2, usual);
  // Nothing is known now that the plan did not count with, so nothing is asked, whenever its cooldown ends.
  CHECK_FALSE(world.engine.pending_policy_request(world.now));
  const Instant regular = world.state().plan.made_at + core::EngineConfig{}.plan_every;
  CHECK(world.engine.next_due() <= regular);
  world.now = regular - Duration::seconds(1);
  world.decide();
  CHECK_FALSE(world.engine.pending_policy_request(world.now));
  world.now = regular;
  CHECK(world.engine.pending_policy_request(world.now));
  world.learn(core::PolicyAnswered{world.round({{job, 2}})});
  CHECK_FALSE(world.engine.pending_policy_request(world.now));
  world.train(job, 60, usual * 3);
  CHECK(world.engine.pending_policy_request(world.now));
}

TEST_CASE("a shadow changes nothing that is decided") {
  World world;
  world.learn(core::PolicyShadowed{kSecond});
  const JobId job = world.submit(4);
  CHECK(world.size(job) == 4);
  CHECK_FALSE(world.engine.pending_policy_request(world.now));
  CHECK(world.state().deployment.shadow == kSecond);
}

}  // namespace tidepool::policies::host
