// Random lives of a cluster whose nodes come and go while a policy file says at random how many pools should have:
// whatever it wants, the laws of pools hold, and an engine that has kept nothing decides the same.
#include <catch2/catch.hpp>

#include "core/codec/reason_numbers.hpp"
#include "core/decide/plan_inputs.hpp"
#include "policies/host/file_policy.hpp"
#include "policies/host/pool_rows.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/pool_provider.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::policies::host {
namespace {

core::Engine::Parts parts_with_files() {
  core::Engine::Parts parts = test::parts_of("tidal");
  parts.file_policy = std::make_shared<const FilePolicy>(built_in_fallback());
  return parts;
}

core::PoolsConfigured two_pools(Rng& rng) {
  core::PoolSpec steady = test::fast_pool("steady", static_cast<int>(rng.between(1, 4)));
  core::PoolSpec spot = test::fast_pool("spot", static_cast<int>(rng.between(0, 4)));
  spot.spot = true;
  if (rng.chance(0.3)) steady.min = 1;
  return {.spot_share = rng.chance(0.5) ? 1.0 : 0.5, .pools = {steady, spot}};
}

// Beyond what pools may have, too, and of one that there is not.
core::PolicyRound nodes_for(std::int64_t number, const test::SimulatedWorld& world, Rng& rng) {
  core::PolicyRound round{.number = number, .asked_at = world.now()};
  if (rng.chance(0.1)) {
    round.fault = "policy.deadline";
    return round;
  }
  for (const auto& [id, job] : world.state().jobs) {
    round.job_answers.push_back({.job = id, .asked = core::digest_of_request(*job), .rank = {}, .size = {}});
  }
  for (const char* pool : {"gone", "spot", "steady"}) {
    if (rng.chance(0.7)) round.pools.push_back({.pool = pool, .nodes = static_cast<int>(rng.between(0, 6))});
  }
  return round;
}

bool holds_workers(const core::ClusterState& state, const core::PoolNode& mine) {
  const core::Node* node = state.find_node(mine.node);
  return node != nullptr && node->state == core::NodeState::kUp &&
         std::any_of(node->owners.begin(), node->owners.end(), [](WorkerId id) { return bool(id); });
}

// Of what a decision plans, on the state before it.
void require_lawful_nodes(const core::ClusterState& before, const core::Decision& decision) {
  std::map<std::string, int> leaving;
  std::map<std::string, int> coming;
  for (const auto& [intent, reason] : decision.nodes) {
    if (const auto* create = std::get_if<core::CreateNodeIntent>(&intent)) {
      const core::NodePool& pool = *before.pools.find(create->pool);
      INFO(create->name);
      REQUIRE(before.pools.count(create->pool) + ++coming[create->pool] <= pool.spec.max);
      REQUIRE_FALSE(pool.backoff.holds(decision.at));
    }
    if (const auto* release = std::get_if<core::ReleaseNodeIntent>(&intent)) {
      const core::PoolNode& mine = *before.pools.find_node(release->request);
      REQUIRE_FALSE(holds_workers(before, mine));
      if (release->failed || mine.away_since || mine.state == core::PoolNodeState::kDraining) continue;
      const core::PoolSpec& spec = before.pools.find(mine.pool)->spec;
      REQUIRE(before.pools.staying(mine.pool) - ++leaving[mine.pool] >= spec.min);
      REQUIRE((mine.idle_since && decision.at - *mine.idle_since >= spec.idle));
    }
  }
}

// Decides until nothing follows. How many nodes it asked for that the policy file wanted.
std::size_t decide_all(test::SimulatedWorld& world) {
  std::size_t wanted = 0;
  for (int round = 0; round < 12; ++round) {
    const core::Decision decision = world.engine().decide(world.now());
    require_lawful_nodes(world.state(), decision);
    for (const auto& planned : decision.nodes) {
      wanted += core::name_of(planned.reason) == core::reason::NodeForPolicy::kTraits.name ? 1 : 0;
    }
    test::check_and_accept(world, decision);
    if (decision.empty()) return wanted;
    world.carry_out(decision);
  }
  FAIL("decisions do not come to rest");
  return wanted;
}

}  // namespace

TEST_CASE("whatever a policy file wants of pools, their laws hold, and what it is shown of them fits together") {
  std::size_t wanted = 0;
  const core::PolicyFileRef file{"nodes", std::string(64, 'a'), "{}", false, true};
  test::for_each_seed("nodes in lives", 20, [&](std::uint64_t seed, Rng& rng) {
    test::SimulatedWorld world(seed, true, parts_with_files());
    test::PoolProvider provider(world, rng);
    REQUIRE(world.learn(two_pools(rng)));
    REQUIRE(world.learn(core::PolicyActivated{file}));
    for (int i = 0; i < 150; ++i) {
      world.tick();
      provider.act(seed % 2 == 0);
      if (rng.chance(0.01)) REQUIRE(world.learn(two_pools(rng)));
      for (const cluster::PoolRow& row : pool_rows(world.state(), world.now())) {
        REQUIRE(row.coming + row.idle <= row.nodes);
        REQUIRE(row.nodes == world.state().pools.staying(row.name));
        REQUIRE(row.nodes + row.leaving == world.state().pools.count(row.name));
        REQUIRE(row.standard >= 0);
      }
      const auto number = world.engine().pending_policy_request(world.now());
      if (number && rng.chance(0.8)) REQUIRE(world.learn(core::PolicyAnswered{nodes_for(*number, world, rng)}));
      if (!world.state().deployment.active) REQUIRE(world.learn(core::PolicyActivated{file}));
      wanted += decide_all(world);
    }
    test::check_recovery(world, parts_with_files());
  });
  if (test::all_seeds_run()) CHECK(wanted > 100);
}

}  // namespace tidepool::policies::host
