// Threads in which nodes were asked for and refused.
#include <catch2/catch.hpp>

#include "core/explain/explain.hpp"
#include "tests/golden/threads/thread_pool.hpp"

namespace tidepool::test {

TEST_CASE(
    "kuberay#4846, kuberay#4206: a quota that a provider refuses is known at once, told, and another pool asked") {
  const core::PoolSpec dear = pool_spec("dear");
  core::PoolSpec spot = pool_spec("spot");
  spot.price_per_slot_hour = Money::micros(300'000);
  spot.spot = true;
  Story story;
  story.engine() = core::Engine(parts_of("tidal"));
  story.learn(core::PoolsConfigured{1, {spot, dear}});
  const JobId job = story.submit({.min = 2, .max = 2});
  // What is asked of providers, until nothing follows.
  const auto asked = [&] {
    std::vector<std::string> said;
    for (core::Decision decision; !(decision = story.engine().decide(story.now())).empty();) {
      story.log(story.engine().accept(decision));
      for (const auto& planned : decision.nodes) said.push_back(core::sentence(planned));
    }
    return said;
  };
  REQUIRE(asked().size() == 1);
  story.learn(core::PoolNodeCreateFailed{1, core::ProviderFault::kQuota, "no more than 4"});
  const auto next = asked();
  REQUIRE(next.size() == 1);
  CHECK_THAT(next.front(), Catch::StartsWith("dear-1: one more node for job-1"));
  const auto evidence = core::explain(story.state(), job).evidence;
  CHECK_THAT(evidence, Catch::VectorContains(std::string(
                           "pool spot has failed 1 time in a row, and is tried again in 15 s: no more than 4")));
}

}  // namespace tidepool::test
