// Jobs that ask for nodes by their labels, over random lives of a cluster whose operators change them, under the
// policies that a daemon runs.
#include "core/state/node_labels.hpp"
#include "policies/registry.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/reasons.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

std::vector<core::WorkerPlacement> joining_in(const core::Intent& intent) {
  return std::visit(Overloaded{[](const core::StartIntent& any) { return any.joining_workers; },
                               [](const core::GrowIntent& any) { return any.joining_workers; },
                               [](const core::MoveIntent& any) { return any.joining_workers; },
                               [](const core::ReplaceIntent& any) { return std::vector{any.joining_worker}; },
                               [](const auto&) { return std::vector<core::WorkerPlacement>(); }},
                    intent);
}

// Told apart from core::matches(), which is what is tested.
bool has_labels(const core::Node& node, const core::Selector& selector) {
  core::Labels labels = core::labels_of(node);
  labels["node"] = node.name;
  labels["slot_type"] = node.slot_type;
  for (const auto& [key, values] : selector) {
    if (!labels.contains(key) || std::ranges::find(values, labels.at(key)) == values.end()) return false;
  }
  return true;
}

struct Seen {
  int placed = 0;     // workers of jobs with a selector
  int changed = 0;    // of these, by other intents than starts
  int stayed = 0;     // workers that ran on nodes that do not match any more
  int waited = 0;     // verdicts that say that matching nodes are taken
  int unmatched = 0;  // verdicts that say that no nodes match
};

void require_matching(const SimulatedWorld& world, const core::Decision& decision, Seen& seen) {
  for (const auto& planned : decision.plan) {
    const core::Job& job = *world.state().find_job(core::job_of(planned.intent));
    if (job.spec.placement.selector.empty()) continue;
    for (const core::WorkerPlacement& placement : joining_in(planned.intent)) {
      const core::Node& node = *world.state().find_node(placement.node);
      INFO(job.id.text() << " asks for " << core::text_of(job.spec.placement.selector) << " and comes to "
                         << node.name);
      REQUIRE(has_labels(node, job.spec.placement.selector));
      ++seen.placed;
      if (!std::holds_alternative<core::StartIntent>(planned.intent)) ++seen.changed;
    }
  }
  for (const core::Verdict& verdict : decision.verdicts) {
    if (says<core::reason::WaitingForNodes>(verdict.reason)) ++seen.waited;
    if (says<core::reason::NoNodeMatches>(verdict.reason)) ++seen.unmatched;
  }
  for (const auto& [id, worker] : world.state().workers) {
    const core::Job& job = *world.state().find_job(worker.job);
    if (!has_labels(*world.state().find_node(worker.node), job.spec.placement.selector)) ++seen.stayed;
  }
}

void live(SimulatedWorld& world, int ticks, Seen& seen) {
  world.label_nodes();
  for (int i = 0; i < ticks; ++i) {
    world.tick();
    require_matching(world, world.engine().decide(world.now()), seen);
    decide_and_check(world);
  }
}

TEST_CASE("No worker is placed on a node whose labels its job does not ask for, under any policy") {
  Seen seen;
  for (const auto& policy : policies::known_policies()) {
    for_each_seed(("labels under " + policy.name).c_str(), 12, [&](std::uint64_t seed, Rng&) {
      SimulatedWorld world(seed + 21'000, true, parts_of(policy.name));
      live(world, 200, seen);
    });
  }
  if (!all_seeds_run()) return;
  CHECK(seen.placed > 0);
  CHECK(seen.changed > 0);
  CHECK(seen.stayed > 0);
  CHECK(seen.waited > 0);
  CHECK(seen.unmatched > 0);
}

TEST_CASE("When faults and label changes end, every job that can run comes to its end, under any policy") {
  Seen seen;
  for (const auto& policy : policies::known_policies()) {
    for_each_seed(("labels come to rest under " + policy.name).c_str(), 6, [&](std::uint64_t seed, Rng&) {
      SimulatedWorld world(seed + 22'000, true, parts_of(policy.name));
      live(world, 120, seen);
      INFO("under " << policy.name);
      come_to_rest(world);
    });
  }
}

}  // namespace
}  // namespace tidepool::test
