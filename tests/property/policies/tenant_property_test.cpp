// Tenants that share a cluster, over random lives of it: whatever policy decides within them, every law of decisions
// holds, and what tenants hold follows docs/fairness.md.
#include <catch2/catch.hpp>

#include <numeric>

#include "core/decide/plan_inputs.hpp"
#include "policies/registry.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/random_tenants.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

// They plan for the whole cluster.
std::vector<std::string> planning_policies() {
  std::vector<std::string> names;
  for (const policies::KnownPolicy& policy : policies::known_policies()) {
    if (policy.scope == "cluster") names.push_back(policy.name);
  }
  return names;
}

void require_tenant_laws(const core::ClusterState& state) {
  REQUIRE(state.plan.error == "");
  int entitled = 0;
  for (const auto& [name, plan] : state.plan.tenants) {
    INFO(name);
    entitled += plan.entitled;
    REQUIRE(state.tenants->find(name) != nullptr);
    REQUIRE(plan.entitled >= 0);
    REQUIRE(plan.loan >= 0);
  }
  REQUIRE(entitled <= state.slots_total());
  // What tenants have used is what their jobs have.
  std::map<std::string, Duration> used;
  for (const auto& [id, job] : state.jobs) used[job->spec.tenant] += job->account.slot_time;
  for (const auto& [name, use] : state.tenant_uses) REQUIRE(use.slot_time >= used[name]);
}

}  // namespace

TEST_CASE("whatever tenants share the cluster and whatever policy decides, every law of decisions holds") {
  std::size_t plans = 0;
  for_each_seed("tenants", 20, [&](std::uint64_t seed, Rng& rng) {
    for (const std::string& policy : planning_policies()) {
      INFO(policy);
      SimulatedWorld world(seed, true, parts_of(policy));
      REQUIRE(world.share_among(random_tenants(rng, static_cast<int>(rng.between(0, 20)))));
      for (int i = 0; i < 120; ++i) {
        world.tick();
        require_books(world.state());
        if (rng.chance(0.03)) (void)world.share_among(random_tenants(rng, static_cast<int>(rng.between(0, 20))));
        decide_and_check(world);
        require_tenant_laws(world.state());
        plans += world.state().plan.tenants.size() > 1 ? 1 : 0;
      }
    }
  });
  if (all_seeds_run()) REQUIRE(plans > 1'000);
}

TEST_CASE("a state with tenants that is written and read back goes on as the engine that wrote it") {
  for_each_seed("tenants recovered", 20, [](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed, true, parts_of("tidal"));
    REQUIRE(world.share_among(random_tenants(rng, 8)));
    for (int i = 0; i < 80; ++i) {
      world.tick();
      decide_and_check(world);
    }
    check_recovery(world, parts_of("tidal"));
  });
}

TEST_CASE("a tenant alone is served as if there were none") {
  std::size_t changes = 0;
  for_each_seed("one tenant", 20, [&](std::uint64_t seed, Rng&) {
    for (const std::string& policy : planning_policies()) {
      INFO(policy);
      SimulatedWorld alone(seed, true, parts_of(policy));
      SimulatedWorld shared(seed, true, parts_of(policy));
      // A fact more in the one life takes one more in the other. As much is guaranteed as jobs may keep for good.
      REQUIRE(alone.learn(core::ClockAdvanced{}));
      REQUIRE(shared.learn(core::TenantsConfigured{{.tenants = {{.name = "demo", .guarantee = 1'000}}}}));
      for (int i = 0; i < 100; ++i) {
        alone.tick();
        shared.tick();
        const core::Decision without = alone.engine().decide(alone.now());
        const core::Decision with = shared.engine().decide(shared.now());
        const auto plan = [](const core::Decision& any) { return core::to_json(any)["plan"].dump(); };
        REQUIRE(plan(with) == plan(without));
        changes += with.plan.size();
        decide_and_check(alone);
        decide_and_check(shared);
      }
    }
  });
  REQUIRE(changes > 0);
}

TEST_CASE("after the faults stop, the jobs of all tenants come to their end") {
  for_each_seed("tenants come to rest", 20, [](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed + 500, true, parts_of("tidal"));
    REQUIRE(world.share_among(random_tenants(rng, 6)));
    for (int i = 0; i < 120; ++i) {
      world.tick();
      decide_and_check(world);
    }
    world.calm_down();
    // What would be kept for good waits for as long as its tenant is guaranteed less, or may not borrow.
    for (const auto& [id, job] : IdTable(world.state().jobs)) {
      const auto path = world.state().tenants->path_to(job->spec.tenant);
      const bool is_bounded = std::any_of(path.begin(), path.end(), [](const auto* any) { return any->borrow; });
      const bool is_firm =
          job->requests.pinned_size > 0 || job->spec.scaling.policy != "default" || !job->spec.preemptible;
      if (!core::is_final(job->state()) && (is_firm || is_bounded)) world.learn(core::JobCancelRequested{id});
    }
    decide_and_check(world);
    int rounds = 0;
    while (world.work_a_round()) {
      decide_and_check(world);
      if (++rounds <= 3'000) continue;
      for (const auto& [id, job] : world.state().jobs) {
        UNSCOPED_INFO(id.text() << " of " << job->spec.tenant << " " << core::to_text(job->state()) << " "
                                << core::to_json(job->verdict.reason).dump());
      }
      FAIL("a job is stuck");
    }
  });
}

}  // namespace tidepool::test
