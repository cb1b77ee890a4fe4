// Policies for the whole cluster inside the engine, over random lives of a cluster: whatever they answer, every law of
// decisions holds; under those that serve everybody, every job comes to its end.
#include <catch2/catch.hpp>

#include "policies/cluster/registry.hpp"
#include "policies/cluster/whole_cluster_policy.hpp"
#include "policies/registry.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/random_allocation.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

core::EngineConfig config() {
  return {.start_timeout = Duration::seconds(40),
          .switch_timeout = Duration::seconds(15),
          .plan_every = Duration::seconds(20)};
}

core::Engine::Parts parts_of(const std::string& policy) {
  return {policies::make_policies(policy).value(), std::make_shared<PlainDetector>(), config()};
}

core::Engine::Parts wild_parts(double wild) {
  auto policies = policies::make_policies().value();
  policies["default"] = std::make_shared<const policies::cluster::WholeClusterPolicy>(
      "random", std::make_shared<const RandomAllocation>(wild));
  return {std::move(policies), std::make_shared<PlainDetector>(), config()};
}

void live(SimulatedWorld& world, int ticks) {
  for (int i = 0; i < ticks; ++i) {
    world.tick();
    require_books(world.state());
    decide_and_check(world);
  }
}

const std::vector<std::string>& cheap_policies() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& preset : policies::cluster::kAllocationPresets) {
      // A search and a binary program answer lawfully like the others, but not in the time that a random life has.
      const bool dear = preset.name == "pollux" || preset.name == "sia";
      if (policies::cluster::runs_live(preset) && preset.name != "fifo" && !dear) all.emplace_back(preset.name);
    }
    return all;
  }();
  return names;
}

}  // namespace

TEST_CASE("under every policy for the whole cluster the books agree and every law of decisions holds") {
  for_each_seed("cluster policies", 12, [](std::uint64_t seed, Rng&) {
    for (const std::string& policy : cheap_policies()) {
      INFO(policy);
      SimulatedWorld world(seed, true, parts_of(policy));
      live(world, 120);
    }
  });
}

TEST_CASE("whatever a policy for the whole cluster answers, no plan breaks a law, and a wrong answer is dropped") {
  int dropped = 0;
  for_each_seed("random policy", 60, [&](std::uint64_t seed, Rng&) {
    SimulatedWorld world(seed, true, wild_parts(0.3));
    for (int i = 0; i < 150; ++i) {
      world.tick();
      decide_and_check(world);
      dropped += world.state().plan.error.empty() ? 0 : 1;
    }
  });
  CHECK(dropped > 0);
}

TEST_CASE("under queues by attained service and under tidal nobody starves: every job ends once the faults stop") {
  for_each_seed("no starvation", 12, [](std::uint64_t seed, Rng&) {
    for (const std::string policy : {"las", "tidal", "tiresias"}) {
      INFO(policy);
      SimulatedWorld world(seed + 1000, true, parts_of(policy));
      live(world, 100);
      world.calm_down();
      decide_and_check(world);
      int rounds = 0;
      while (world.work_a_round()) {
        decide_and_check(world);
        if (++rounds <= 3000) continue;
        for (const auto& [id, job] : world.state().jobs) {
          if (core::is_final(job->state)) continue;
          UNSCOPED_INFO(id.text() + " " + core::to_text(job->state) + " " + core::to_json(job->verdict.reason).dump());
        }
        FAIL("a job is stuck");
      }
    }
  });
}

TEST_CASE("an engine that goes on from a written state plans as the one that wrote it") {
  for_each_seed("recovery of plans", 10, [](std::uint64_t seed, Rng&) {
    for (const std::string policy : {"las", "tidal"}) {
      SimulatedWorld world(seed + 2000, true, parts_of(policy));
      live(world, 80);
      const auto written = core::to_json(world.state());
      auto read = core::state_from_json(nlohmann::json::parse(written.dump()));
      INFO((read.ok() ? std::string() : read.error().message));
      REQUIRE(read.ok());
      core::Engine again(parts_of(policy), *std::move(read));
      const auto decision = again.decide(world.now());
      REQUIRE(again.validate(decision).ok());
      // Everything is looked at again; what was planned stands.
      REQUIRE(decision.plan.empty());
      REQUIRE_FALSE(decision.replan.has_value());
    }
  });
}

}  // namespace tidepool::test
