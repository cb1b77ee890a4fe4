// Slots that a waiting job counts on, free ones and those that come free, are given to no job behind it.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "core/explain/explain.hpp"
#include "tests/support/shared_pool.hpp"
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

// A pool of small jobs that may not be preempted for ten minutes, with a gang of a higher priority behind them.
struct BoundPool : test::SharedPool {
  std::vector<JobId> small;        // that have run from the start
  std::vector<std::string> types;  // that all but particular jobs ask for; empty = none
  int small_priority = 0;

  explicit BoundPool(int slots) : SharedPool({}, slots) {}

  // One of one slot.
  JobId submit_small(Duration bound = Duration::seconds(600)) {
    core::JobSpec spec = SharedPool::spec("", 1);
    spec.elastic.min_runtime = bound;
    spec.slot_types = types;
    spec.priority = small_priority;
    return submit(spec);
  }
  void fill(Duration bound = Duration::seconds(600)) {
    for (std::int64_t left = story.state().slots_free(); left > 0; --left) small.push_back(submit_small(bound));
    settle_all();
    REQUIRE(story.state().slots_free() == 0);
  }
  [[nodiscard]] NodeId node_of(JobId job) const { return story.nodes_of(job).front(); }
  [[nodiscard]] bool waits(JobId job) const { return story.job(job).state() == core::JobState::kPending; }
  // One worker of two slots.
  JobId submit_wide(int priority) {
    core::JobSpec spec = SharedPool::spec("", 1);
    spec.gpus_per_worker = 2;
    spec.priority = priority;
    spec.slot_types = types;
    return submit(spec);
  }
  // Another node of two slots, with small jobs on it.
  NodeId add_node(Duration bound) {
    const NodeId node = story.node(2);
    fill(bound);
    return node;
  }
  // One of those that have run on the node from the start.
  void end_on(NodeId node) {
    const auto found = std::find_if(small.begin(), small.end(), [&](JobId job) { return node_of(job) == node; });
    REQUIRE(found != small.end());
    const JobId ends = *found;
    small.erase(found);
    end(ends);
    settle_all();
  }
};

}  // namespace

TEST_CASE("slots of one node are kept for a worker of several, that where it may have them first, and others are not") {
  BoundPool pool(2);
  if (GENERATE(false, true)) pool.types = {"cpu"};
  pool.fill(Duration::seconds(900));
  const NodeId first = pool.story.state().nodes.begin()->first;
  const NodeId soonest = pool.add_node(Duration::seconds(600));
  const NodeId last = pool.add_node(Duration::seconds(900));
  const JobId gang = pool.submit_wide(10);
  JobId next = pool.submit_small();
  pool.end_on(first);
  CHECK(pool.waits(next));
  pool.end_on(soonest);  // as many are free as it needs, on two nodes
  CHECK(pool.waits(next));
  pool.end_on(last);
  REQUIRE_FALSE(pool.waits(next));
  CHECK(pool.node_of(next) != soonest);
  next = pool.submit_small();
  pool.settle_all();
  CHECK(pool.waits(next));
  REQUIRE(pool.waits(gang));
  const auto stays =
      std::find_if(pool.small.begin(), pool.small.end(), [&](JobId job) { return pool.node_of(job) == soonest; });
  REQUIRE(stays != pool.small.end());
  pool.story.pass(*pool.story.job(*stays).last_start_at + Duration::seconds(600) - pool.story.now());
  const core::Decision decision = pool.story.decide();
  CHECK(test::preempted_in(decision) == 1);
  CHECK(preempts(decision, *stays));
  pool.settle_all();
  CHECK(pool.story.job(gang).size() == 1);
  CHECK(pool.node_of(gang) == soonest);
}

TEST_CASE("a worker of several slots waits for a job that cools down, which gives up its slot once that is over") {
  BoundPool pool(2);
  core::JobSpec spec = job_spec({.min = 1, .max = 2, .preferred = 2, .cooldown = Duration::seconds(300)});
  spec.tenant.clear();
  const JobId cools = pool.running(spec);
  const NodeId first = pool.node_of(cools);
  pool.small_priority = 10;
  const NodeId second = pool.add_node(Duration::seconds(3'600));
  (void)pool.add_node(Duration::seconds(3'600));
  pool.small_priority = 0;
  for (const int size : {1, 0}) {
    pool.story.learn(core::JobResizeRequested{cools, size});
    pool.story.settle(cools);
  }
  REQUIRE(pool.story.job(cools).size() == 1);
  const Instant until = *pool.story.job(cools).last_resize_at + Duration::seconds(300);
  const JobId gang = pool.submit_wide(10);
  const JobId next = pool.submit_small();
  pool.end_on(second);  // as many are free as it needs, on two nodes
  CHECK(pool.waits(gang));
  CHECK(pool.waits(next));
  const std::vector<std::string> evidence = core::explain(pool.story.state(), gang).evidence;
  CHECK(std::any_of(evidence.begin(), evidence.end(), [&](const std::string& line) {
    return line.starts_with(cools.text() + ", of a lower priority, keeps 1 slot until ") &&
           line.ends_with(", when its cooldown ends");
  }));
  pool.story.pass(until - Duration::seconds(1) - pool.story.now());
  CHECK(test::preempted_in(pool.story.decide()) == 0);
  pool.story.pass(Duration::seconds(1));
  CHECK(preempts(pool.story.decide(), cools));
  pool.settle_all();
  CHECK(pool.story.job(gang).size() == 1);
  CHECK(pool.node_of(gang) == first);
}

TEST_CASE("for a worker of several slots with a price cap slots are kept on a node that is within it") {
  BoundPool pool(2);  // a slot costs a dollar
  pool.fill(Duration::seconds(900));
  const NodeId cheap = pool.story.state().nodes.begin()->first;
  const NodeId dear = pool.story.node(2, "dear", {}, Money::micros(9'000'000));
  pool.fill();
  core::JobSpec spec = test::SharedPool::spec("", 1);
  spec.gpus_per_worker = 2;
  spec.priority = 10;
  spec.scaling.price_cap = Money::micros(2'000'000);
  const JobId gang = pool.submit(spec);
  const JobId next = pool.submit_small();
  pool.end_on(cheap);
  pool.end_on(dear);
  CHECK(pool.waits(next));
  pool.end_on(dear);
  REQUIRE_FALSE(pool.waits(next));
  CHECK(pool.node_of(next) == dear);
  REQUIRE(pool.waits(gang));
  pool.story.pass(Duration::seconds(900));
  pool.settle_all();
  CHECK(pool.story.job(gang).size() == 1);
  CHECK(pool.node_of(gang) == cheap);
}

TEST_CASE("for a worker of several slots behind jobs of its own priority no scattered slot is kept") {
  BoundPool pool(2);
  const NodeId first = pool.story.state().nodes.begin()->first;
  pool.fill();
  const NodeId second = pool.add_node(Duration::seconds(600));
  const JobId gang = pool.submit_wide(0);
  pool.end_on(first);
  pool.end_on(second);
  const JobId next = pool.submit_small();
  pool.settle_all();
  CHECK_FALSE(pool.waits(next));
  CHECK(pool.waits(gang));
}

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
