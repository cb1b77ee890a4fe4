// Random lives of a cluster that tenants share while a policy file decides and claims at random: every law of decisions
// holds, and what is kept between plans changes none of them.
#include <catch2/catch.hpp>

#include "core/decide/plan_inputs.hpp"
#include "policies/host/file_policy.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/random_tenants.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::policies::host {
namespace {

core::Engine::Parts shared_parts() {
  core::Engine::Parts parts = test::parts_of("tidal");
  parts.file_policy = std::make_shared<const FilePolicy>(built_in_fallback());
  return parts;
}

// Of the tree as it is now or, now and then, of another one.
core::PolicyRound answer_to(std::int64_t number, const test::SimulatedWorld& world, Rng& rng) {
  core::PolicyRound round{.number = number, .asked_at = world.now()};
  if (rng.chance(0.1)) {
    round.fault = "policy.deadline";
    return round;
  }
  const bool sizes = rng.chance(0.5);
  for (const auto& [id, job] : world.state().jobs) {
    core::PolicyJobAnswer& wish = round.job_answers.emplace_back();
    wish = {.job = id, .asked = core::digest_of_request(*job), .rank = {}, .size = {}, .mark = {}, .word = ""};
    const auto& allowed = job->spec.elastic.sizes;
    if (sizes) wish.size = allowed[rng.below(allowed.size())] * job->spec.gpus_per_worker;
  }
  std::map<std::string, int> claims;
  for (const core::Tenant& tenant : world.state().tenants->tenants) {
    if (rng.chance(0.6)) claims[tenant.name] = static_cast<int>(rng.between(0, rng.chance(0.8) ? 8 : 1'000));
  }
  if (rng.chance(0.2)) claims["gone"] = 5;
  for (const auto& [tenant, slots] : claims) round.claims.push_back({tenant, slots});
  return round;
}

}  // namespace

TEST_CASE("whatever a policy file claims for tenants, every law of decisions holds") {
  std::size_t plans = 0;
  const core::PolicyFileRef file{"shares", std::string(64, 'a'), "{}", true};
  test::for_each_seed("claims in lives", 20, [&](std::uint64_t seed, Rng& rng) {
    test::SimulatedWorld world(seed, true, shared_parts());
    REQUIRE(world.share_among(test::random_tenants(rng, static_cast<int>(rng.between(0, 20)))));
    REQUIRE(world.learn(core::PolicyActivated{file}));
    for (int i = 0; i < 150; ++i) {
      world.tick();
      if (rng.chance(0.03)) (void)world.share_among(test::random_tenants(rng, static_cast<int>(rng.between(0, 20))));
      const auto number = world.engine().pending_policy_request(world.now());
      if (number && rng.chance(0.8)) REQUIRE(world.learn(core::PolicyAnswered{answer_to(*number, world, rng)}));
      test::decide_and_check(world);
      int entitled = 0;
      for (const auto& [name, plan] : world.state().plan.tenants) entitled += plan.entitled;
      // A plan stands while the file is asked, whatever becomes of the nodes.
      const bool knows_nodes = world.state().plan.nodes == core::digest_of_nodes(world.state());
      if (knows_nodes) REQUIRE(entitled <= world.state().slots_total());
      plans += world.state().plan.tenants.size() > 1 ? 1 : 0;
    }
    test::check_recovery(world, shared_parts());
  });
  if (test::all_seeds_run()) CHECK(plans > 500);
}

}  // namespace tidepool::policies::host
