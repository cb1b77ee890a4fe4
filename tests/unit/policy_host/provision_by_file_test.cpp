// Nodes of pools while a policy file decides that has the hook provision. Its answers are written by hand.
#include "core/codec/codec.hpp"
#include "core/codec/row_texts.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/explain/explain.hpp"
#include "policies/host/file_policy.hpp"
#include "policies/host/file_round.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/pool_story.hpp"

namespace tidepool::policies::host {
namespace {

using Nodes = std::map<std::string, int>;
using Sentences = std::vector<std::string>;

core::Engine::Parts parts_with_files() {
  core::Engine::Parts parts = test::parts_of("tidal");
  parts.file_policy = std::make_shared<const FilePolicy>(built_in_fallback());
  return parts;
}

struct FilePools : test::PoolStory {
  explicit FilePools(const std::vector<core::PoolSpec>& pools = {test::gpu_pool()}, bool provisions = true)
      : PoolStory(parts_with_files(), pools) {
    learn(core::PolicyActivated{core::PolicyFileRef{"nodes", std::string(64, 'a'), "{}", false, provisions}});
  }

  [[nodiscard]] bool is_asked() { return engine().pending_policy_request(now()).has_value(); }
  // Of each job its largest size.
  [[nodiscard]] core::PolicyRound round(const Nodes& nodes) const {
    core::PolicyRound round{.number = state().deployment.next_round, .asked_at = now()};
    for (const auto& [id, job] : state().jobs) {
      round.job_answers.push_back({.job = id, .asked = core::digest_of_request(*job), .rank = {}, .size = 4});
    }
    for (const auto& [pool, wanted] : nodes) round.pools.push_back({.pool = pool, .nodes = wanted});
    return round;
  }
  Sentences answer(const Nodes& nodes) {
    REQUIRE(is_asked());
    learn(core::PolicyAnswered{round(nodes)});
    return plan();
  }
  // Two nodes that have joined and hold nothing.
  void two_idle() {
    REQUIRE(answer({{"gpu", 2}}).size() == 2);
    joins(1);
    joins(2);
    REQUIRE(plan().empty());
  }
};

}  // namespace

TEST_CASE("nodes that a policy file wants are asked for in its words, though no job waits") {
  FilePools pool;
  REQUIRE(pool.is_asked());
  core::PolicyRound round = pool.round({{"gpu", 2}});
  round.pools[0].word = "Spare";
  round.pools[0].numbers = {{"nodes", 7}, {"spare", 2}};  // the first is the engine's to tell
  pool.learn(core::PolicyAnswered{round});
  CHECK(
      pool.plan() ==
      Sentences{"gpu-1: one more node, because the pool has 0 nodes and the policy wants 2: Spare (spare 2); a node "
                "of 2 slots costs 2 an hour and joins in about 30 s",
                "gpu-2: one more node, because the pool has 1 node and the policy wants 2: Spare (spare 2); a node of "
                "2 slots costs 2 an hour and joins in about 30 s"});
  CHECK_FALSE(pool.is_asked());
  CHECK(pool.engine().next_due() == pool.now() + test::short_timeouts().plan_every);
  pool.pass(test::short_timeouts().plan_every);
  CHECK(pool.is_asked());
  CHECK(pool.answer({{"gpu", 2}}).empty());
}

TEST_CASE("a policy file is asked of pools only where there are some and it has the hook") {
  CHECK_FALSE(FilePools(std::vector<core::PoolSpec>()).is_asked());
  CHECK_FALSE(FilePools({test::gpu_pool()}, false).is_asked());
}

TEST_CASE("whatever a policy file wants, pools keep their bounds and wait after attempts that failed") {
  core::PoolSpec small = test::gpu_pool(3);
  small.min = 1;
  FilePools pool({small});
  CHECK(pool.answer({{"gpu", 9}}).size() == 3);
  for (const core::NodeRequest request : {1U, 2U, 3U}) {
    pool.learn(core::PoolNodeCreateFailed{request, core::ProviderFault::kQuota, "no more than 0"});
  }
  CHECK(pool.plan().empty());
  pool.pass(Duration::seconds(15));
  CHECK(pool.plan().size() == 3);

  FilePools least({small});
  CHECK(least.answer({{"gpu", 0}}) ==
        Sentences{"gpu-1: one more node, because the pool has 0 nodes and must have at least 1; a node of 2 slots "
                  "costs 2 an hour and joins in about 30 s"});
}

TEST_CASE("of each pool of which a candidate says something, its nodes are compared with those that the pool has") {
  core::PoolSpec other = test::gpu_pool();
  other.name = "other";
  FilePools pool({test::gpu_pool(), other});
  pool.two_idle();
  const core::Engine::Parts parts = parts_with_files();
  FileRounds rounds(parts);
  const auto compared = [&](const Nodes& nodes) {
    const RoundRequest asked{
        .state = pool.state(), .now = pool.now(), .file = *pool.state().deployment.active, .number = 1};
    return rounds.compare(pool.round(nodes), asked).pools;
  };
  const auto found = compared({{"gpu", 3}});
  REQUIRE(found.size() == 1);
  CHECK(found[0].pool == "gpu");
  CHECK(found[0].slot_type == "cpu");
  CHECK(found[0].live == 2);
  CHECK(found[0].candidate == 3);
  CHECK(compared({{"gpu", 99}, {"other", 0}})[0].candidate == 4);  // what the pool may have
  CHECK(compared({{"gone", 1}}).empty());
  CHECK(compared({}).empty());
}

TEST_CASE("a policy file's nodes of spot pools stay within their share") {
  core::PoolSpec spot = test::gpu_pool();
  spot.name = "spot";
  spot.spot = true;
  FilePools pool({test::gpu_pool(), spot});
  pool.learn(core::PoolsConfigured{0.5, {test::gpu_pool(), spot}});
  CHECK(pool.answer({{"gpu", 1}, {"spot", 4}}).size() == 2);
}

TEST_CASE("a node beyond what a policy file wants is given back once it has held nothing for its idle time") {
  FilePools pool;
  pool.two_idle();
  pool.pass(Duration::seconds(20));
  CHECK(pool.answer({{"gpu", 1}}).empty());
  pool.pass(Duration::seconds(39));
  CHECK(pool.plan().empty());
  pool.pass(Duration::seconds(1));
  CHECK(pool.plan() == Sentences{"gpu-1: given back: it has held nothing for 60 s, and the pool has 2 nodes and the "
                                 "policy wants 1"});
  pool.pass(Duration::seconds(60));
  CHECK(pool.plan().empty());  // the other stays, however long it holds nothing
}

TEST_CASE("a node that holds workers is emptied, one at a time, where a policy file wants fewer") {
  FilePools pool;
  const JobId job = pool.submit({.min = 1, .max = 4});
  pool.two_idle();
  REQUIRE(pool.answer({{"gpu", 2}}).empty());
  for (int again = 0; again < 2; ++again) pool.settle(job);
  REQUIRE(pool.job(job).size() == 4);
  pool.pass(Duration::seconds(90));
  const Sentences said = pool.answer({{"gpu", 0}});
  REQUIRE(said.size() == 1);
  CHECK(said.front().find(": emptied: the pool has 2 nodes and the policy wants 0") != std::string::npos);
}

TEST_CASE("of a pool of which a policy file says nothing, and in a round that fails, the built-in rule decides") {
  core::PoolSpec other = test::gpu_pool();
  other.name = "other";
  FilePools pool({test::gpu_pool(), other});
  const JobId job = pool.submit({.min = 1, .max = 1});
  CHECK(pool.answer({{"gpu", 0}}).front().starts_with("other-1: one more node for " + job.text()));

  FilePools fails;
  fails.submit({.min = 1, .max = 1});
  CHECK(fails.answer({{"gpu", 0}}).empty());
  const auto evidence = core::explain(fails.state(), JobId(1)).evidence;
  CHECK(std::find(evidence.begin(), evidence.end(), "the policy nodes@aaaaaaaaaaaa wants 0 nodes of pool gpu") !=
        evidence.end());
  fails.pass(test::short_timeouts().plan_every);
  REQUIRE(fails.is_asked());
  core::PolicyRound failed = fails.round({});
  failed.job_answers.clear();
  failed.fault = "policy.invalid_nodes";
  fails.learn(core::PolicyAnswered{failed});
  CHECK(fails.plan().front().starts_with("gpu-1: one more node for job-1"));
}

TEST_CASE("what a policy file wanted of pools ends with it") {
  FilePools pool;
  pool.two_idle();
  pool.learn(core::PolicyActivated{std::nullopt});
  CHECK(pool.state().deployment.pools.empty());
  pool.pass(Duration::seconds(60));
  CHECK(pool.plan() ==
        Sentences{"gpu-1: given back: it has held nothing for 60 s and costs 2 an hour; the pool keeps 1 node",
                  "gpu-2: given back: it has held nothing for 60 s and costs 2 an hour; the pool keeps 0 nodes"});
}

TEST_CASE("nodes that are out of order, twice for one pool or below 0 are no answer") {
  FilePools pool;
  for (const std::vector<core::PoolTarget>& wrong :
       {std::vector<core::PoolTarget>{{.pool = "spot", .nodes = 1}, {.pool = "gpu", .nodes = 1}},
        {{.pool = "gpu", .nodes = 1}, {.pool = "gpu", .nodes = 2}},
        {{.pool = "gpu", .nodes = -1}}}) {
    core::PolicyRound round = pool.round({});
    round.pools = wrong;
    CHECK(pool.refuses(core::PolicyAnswered{round}).find("sorted by pool") != std::string::npos);
  }
}

TEST_CASE("an engine that is restarted asks for the nodes that a policy file wants as the one that ended") {
  FilePools pool;
  pool.learn(core::PolicyAnswered{pool.round({{"gpu", 2}})});
  const auto state = core::state_from_json(core::to_json(pool.state()));
  REQUIRE(state.ok());
  core::Engine again(parts_with_files(), *state);
  const core::Decision decision = again.decide(pool.now());
  CHECK(test::Story::text_of(decision) == test::Story::text_of(pool.engine().decide(pool.now())));
  CHECK(decision.nodes.size() == 2);
  const auto as_a_row = core::decision_from_text(core::decision_text(decision));
  REQUIRE(as_a_row.ok());
  CHECK(core::to_json(*as_a_row) == core::to_json(decision));
}

}  // namespace tidepool::policies::host
