// Jobs that ask for memory, over random lives of a cluster whose nodes bring different shares, under the policies that
// a daemon runs.
#include "policies/registry.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/reasons.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

struct MemorySeen {
  int placed = 0;     // workers of jobs that ask for memory
  int unknown = 0;    // of these, on nodes that do not tell, or bound none
  int stayed = 0;     // workers that run where a node has come back with less
  int waited = 0;     // verdicts that say that the nodes with enough are taken
  int unmatched = 0;  // verdicts that say that none has enough
};

// Told apart from the core's own rule, which is what is tested: in bytes of the whole worker.
bool brings(const core::Node& node, const core::JobSpec& spec) {
  if (!node.memory_per_slot || *node.memory_per_slot == 0) return true;
  return spec.memory.value_or(0) <= *node.memory_per_slot * spec.gpus_per_worker;
}

void look_at_workers(const SimulatedWorld& world, std::set<WorkerId>& known, MemorySeen& seen) {
  for (const auto& [id, worker] : world.state().workers) {
    const core::JobSpec& spec = world.state().find_job(worker.job)->spec;
    const core::Node& node = *world.state().find_node(worker.node);
    if (!spec.memory) continue;
    if (!known.insert(id).second) {
      if (!brings(node, spec)) ++seen.stayed;
      continue;
    }
    INFO(id.text() << " of " << worker.job.text() << " asks for " << *spec.memory << " bytes with "
                   << spec.gpus_per_worker << " slots and comes to " << node.name << ", which brings "
                   << node.memory_per_slot.value_or(-1) << " a slot");
    REQUIRE(brings(node, spec));
    ++seen.placed;
    if (node.memory_per_slot.value_or(0) == 0) ++seen.unknown;
  }
}

// Shares of nodes hold, whatever was placed where: what is asked for is never more.
void live_with_memory(SimulatedWorld& world, int ticks, MemorySeen& seen) {
  world.share_memory();
  std::set<WorkerId> known;
  for (int i = 0; i < ticks; ++i) {
    world.tick();
    const core::Decision decision = world.engine().decide(world.now());
    for (const core::Verdict& verdict : decision.verdicts) {
      if (says<core::reason::WaitingForNodes>(verdict.reason)) ++seen.waited;
      if (says<core::reason::NoNodeMatches>(verdict.reason)) ++seen.unmatched;
    }
    decide_and_check(world);
    look_at_workers(world, known, seen);
  }
}

TEST_CASE("No worker is placed where its slots bring less memory than its job asks for, under any policy") {
  MemorySeen seen;
  for (const auto& policy : policies::known_policies()) {
    for_each_seed(("memory under " + policy.name).c_str(), 10, [&](std::uint64_t seed, Rng&) {
      SimulatedWorld world(seed + 33'010, true, parts_of(policy.name));
      if (seed % 2 == 0) world.label_nodes();
      live_with_memory(world, 160, seen);
    });
  }
  if (!all_seeds_run()) return;
  CHECK(seen.placed > 0);
  CHECK(seen.unknown > 0);
  CHECK(seen.stayed > 0);
  CHECK(seen.waited > 0);
  CHECK(seen.unmatched > 0);
}

TEST_CASE("When faults end, every job that finds its memory somewhere comes to its end, under any policy") {
  MemorySeen seen;
  for (const auto& policy : policies::known_policies()) {
    for_each_seed(("memory comes to rest under " + policy.name).c_str(), 5, [&](std::uint64_t seed, Rng&) {
      SimulatedWorld world(seed + 32'000, true, parts_of(policy.name));
      live_with_memory(world, 100, seen);
      INFO("under " << policy.name);
      come_to_rest(world);
    });
  }
}

}  // namespace
}  // namespace tidepool::test
