// Slots that a waiting job counts on, free ones and those that come free, are given to no job behind it.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/victim_pool.hpp"

namespace tidepool::policies::cluster {
namespace {

using test::job_spec;

NodeId node_of_start(const core::Decision& decision, JobId job) {
  for (const auto& planned : decision.plan) {
    const auto* start = std::get_if<core::StartIntent>(&planned.intent);
    if (start != nullptr && start->job == job) return start->joining_workers.front().node;
  }
  return {};
}

bool preempts(const core::Decision& decision, JobId job) {
  return std::any_of(decision.plan.begin(), decision.plan.end(), [&](const auto& planned) {
    const auto* intent = std::get_if<core::PreemptIntent>(&planned.intent);
    return intent != nullptr && intent->job == job;
  });
}

bool replaces_a_worker(const core::Decision& decision) {
  return std::any_of(decision.plan.begin(), decision.plan.end(),
                     [](const auto& planned) { return std::holds_alternative<core::ReplaceIntent>(planned.intent); });
}

}  // namespace

TEST_CASE("the free slot beside a victim is kept for the spread job that it was preempted for") {
  VictimPool pool({2});
  const JobId victim = pool.running({.min = 1, .max = 1}, 1);
  const NodeId other = pool.story.node(1);
  core::JobSpec spread = job_spec({.min = 1, .max = 1, .gpus = 2});
  spread.placement.strategy = core::TopologyStrategy::kStrictSpread;
  const JobId claimant = pool.submit(spread, 2);
  const JobId behind = pool.submit({.min = 1, .max = 1}, 1);
  pool.said->sizes[victim] = 0;
  pool.said->order = {claimant, behind, victim};
  const core::Decision decision = pool.story.decide();
  CHECK(preempts(decision, victim));
  CHECK(node_of_start(decision, behind) == other);
}

TEST_CASE("a slot that is kept for a job that waits for its type does not go to a worker's successor") {
  VictimPool pool({2}, {.rebalance_stragglers = false});
  const JobId slowed = pool.running({.min = 2, .max = 2, .mixed = true}, 2);
  pool.story.learn(core::NodeJoined{pool.story.engine().node_id_for("new"), "new", 2, "new", Money(), {}});
  const JobId leaves = pool.running({.min = 1, .max = 1}, 1);
  core::JobSpec typed = job_spec({.min = 2, .max = 2});
  typed.slot_types = {"new"};
  const JobId waits = pool.submit(typed, 2);
  pool.story.learn(core::JobCancelRequested{leaves});
  pool.story.decide();
  REQUIRE(pool.story.job(waits).size() == 0);
  pool.story.pass(Duration::seconds(120));
  for (int i = 0; i < 20; ++i) {
    pool.story.steps(slowed, 8, {100'000, 300'000});
    CHECK_FALSE(replaces_a_worker(pool.story.decide()));
  }
}

}  // namespace tidepool::policies::cluster
