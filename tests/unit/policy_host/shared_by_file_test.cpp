// Tenants that share the pool while a policy file decides that has the hook share. Its answers are written by hand.
#include <catch2/catch.hpp>

#include "core/codec/codec.hpp"
#include "core/decide/plan_inputs.hpp"
#include "policies/host/file_policy.hpp"
#include "tests/support/policy_parts.hpp"

namespace tidepool::policies::host {
namespace {

using Claims = std::map<std::string, int>;

core::Engine::Parts shared_parts() {
  core::Engine::Parts parts = test::parts_of("tidal");
  parts.file_policy = std::make_shared<const FilePolicy>(built_in_fallback());
  return parts;
}

const std::vector<core::Tenant> kVisionAndSpeech = {{.name = "vision", .guarantee = 2, .weight = 3},
                                                    {.name = "speech", .guarantee = 2, .weight = 1}};

// Eight slots that two tenants share, each guaranteed two.
struct Pool {
  explicit Pool(bool shares = true) {
    story.engine() = core::Engine(shared_parts());
    story.node(8);
    configure(kVisionAndSpeech);
    learn(core::PolicyActivated{core::PolicyFileRef{"shares", std::string(64, 'a'), "{}", shares}});
  }

  void configure(std::vector<core::Tenant> tenants) { learn(core::TenantsConfigured{{.tenants = std::move(tenants)}}); }
  void learn(core::Fact fact) {
    story.learn(std::move(fact));
    story.decide();
  }
  // One job that can use all slots, and that the file would give all.
  JobId submit(const std::string& tenant) {
    const JobId id = story.engine().next_job_id();
    core::JobSpec spec = test::job_spec({.max = 8});
    spec.tenant = tenant;
    learn(core::JobSubmitted{id, spec});
    return id;
  }
  [[nodiscard]] core::PolicyRound round(const Claims& claims) const {
    core::PolicyRound round{.number = story.state().deployment.next_round, .asked_at = story.now()};
    for (const auto& [id, job] : story.state().jobs) {
      round.job_answers.push_back({.job = id, .asked = core::digest_of_request(*job), .rank = {}, .size = 8});
    }
    for (const auto& [tenant, slots] : claims) round.claims.push_back({tenant, slots});
    return round;
  }
  // What the file says then is carried out.
  void answer(const Claims& claims) { answer_with(round(claims)); }
  void answer_with(core::PolicyRound round) {
    story.pass(Duration::seconds(60));
    REQUIRE(story.engine().pending_policy_request(story.now()));
    learn(core::PolicyAnswered{std::move(round)});
    for (int again = 0; again < 2; ++again) {
      for (const auto& [id, job] : IdTable(story.state().jobs)) story.settle(id);
    }
  }
  [[nodiscard]] std::string entitled() const {
    std::string text;
    for (const auto& [name, plan] : story.state().plan.tenants) {
      text += (text.empty() ? "" : ", ") + name + " " + std::to_string(plan.entitled);
    }
    return text;
  }
  [[nodiscard]] int given(JobId id) const { return story.job(id).planned->target.size; }

  test::Story story;
};

}  // namespace

TEST_CASE("what a policy file claims for tenants comes before the built-in rule, and is what their jobs get") {
  Pool pool;
  const JobId seen = pool.submit("vision");
  const JobId heard = pool.submit("speech");
  pool.answer({});
  CHECK(pool.entitled() == "speech 3, vision 5");
  pool.answer({{"speech", 4}});
  CHECK(pool.entitled() == "speech 6, vision 2");
  CHECK(pool.given(seen) == 2);
  CHECK(pool.given(heard) == 6);
  CHECK_FALSE(pool.story.state().deployment.answer);
  pool.answer({{"speech", 0}, {"vision", 1}});  // the rest by the built-in rule, level 1
  CHECK(pool.entitled() == "speech 3, vision 5");
}

TEST_CASE("a claim beyond what is there takes no guarantee, and what a tenant does not want goes to the others") {
  Pool pool;
  const JobId seen = pool.submit("vision");
  pool.answer({{"speech", 1'000}});
  CHECK(pool.given(seen) == 8);
  (void)pool.submit("speech");
  pool.answer({{"speech", 1'000}});
  CHECK(pool.entitled() == "speech 6, vision 2");
}

TEST_CASE("tenants that a tree has got since the question have the built-in rule") {
  Pool pool;
  (void)pool.submit("vision");
  (void)pool.submit("speech");
  const core::PolicyRound answer = pool.round({{"gone", 7}, {"speech", 1}});
  std::vector<core::Tenant> more = kVisionAndSpeech;
  more.push_back({.name = "images", .weight = 3});
  pool.configure(more);
  pool.answer_with(answer);
  CHECK(pool.entitled() == "speech 3, vision 5");
}

TEST_CASE("a round that fails is decided by the built-in rule, for tenants as for jobs") {
  Pool pool;
  (void)pool.submit("vision");
  (void)pool.submit("speech");
  pool.answer({{"speech", 4}});
  CHECK(pool.entitled() == "speech 6, vision 2");
  core::PolicyRound failed = pool.round({});
  failed.job_answers.clear();
  failed.fault = "policy.deadline";
  pool.answer_with(failed);
  CHECK(pool.entitled() == "speech 3, vision 5");
}

TEST_CASE("under a file without the hook the tree divides nothing, as before there was one") {
  Pool pool(false);
  (void)pool.submit("vision");
  pool.answer({{"speech", 4}});
  CHECK(pool.entitled().empty());
}

TEST_CASE("claims that are out of order, twice for one tenant or below 0 are no answer") {
  Pool pool;
  (void)pool.submit("vision");
  for (const std::vector<core::TenantClaim>& wrong : {std::vector<core::TenantClaim>{{"vision", 1}, {"speech", 1}},
                                                      {{"speech", 1}, {"speech", 2}},
                                                      {{"speech", -1}}}) {
    core::PolicyRound round = pool.round({});
    round.claims = wrong;
    CHECK(pool.story.refuses(core::PolicyAnswered{round}).find("sorted by tenant") != std::string::npos);
  }
}

TEST_CASE("an engine that is restarted with an answer in hand divides by it as the one that ended") {
  Pool pool;
  (void)pool.submit("vision");
  (void)pool.submit("speech");
  pool.story.pass(Duration::seconds(60));
  pool.story.learn(core::PolicyAnswered{pool.round({{"speech", 3}})});
  const auto state = core::state_from_json(core::to_json(pool.story.state()));
  REQUIRE(state.ok());
  core::Engine again(shared_parts(), *state);
  const core::Decision decision = again.decide(pool.story.now());
  CHECK(test::Story::text_of(decision) == test::Story::text_of(pool.story.engine().decide(pool.story.now())));
  REQUIRE(decision.replan);
  CHECK(decision.replan->tenants.size() == 2);
}

}  // namespace tidepool::policies::host
