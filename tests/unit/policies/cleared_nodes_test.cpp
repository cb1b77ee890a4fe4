// Nodes that are cleared for a gang of another tenant, apart or in one rack: which jobs leave, where its slots are
// kept, and which jobs do not leave.
#include <catch2/catch.hpp>

#include "core/explain/explain.hpp"
#include "core/words/sentence.hpp"
#include "tests/support/shared_pool.hpp"

namespace tidepool::test {
namespace {

// Two nodes of four slots. Speech holds two slots of each, by jobs of one slot, and is guaranteed as many; the others
// are free.
struct Scattered {
  SharedPool pool{{{.name = "vision", .guarantee = 4}, {.name = "speech", .guarantee = 4}}, 4};
  std::vector<JobId> jobs;

  explicit Scattered(int size_max = 1, bool preemptible = true) {
    pool.story.node(4);
    std::vector<JobId> fillers;
    for (int i = 0; i < 2; ++i) fillers.push_back(pool.running("vision", 1));
    for (int i = 0; i < 4; ++i) {
      core::JobSpec spec = SharedPool::spec("speech", 1);
      spec.batch.global = 64;
      spec.elastic.max = size_max;
      spec.preemptible = preemptible;
      if (size_max > 1) spec.elastic.cooldown = Duration();
      jobs.push_back(pool.submit(std::move(spec)));
      pool.story.settle(jobs.back());
      pool.story.pass(Duration::seconds(60));
    }
    for (const JobId id : fillers) pool.end(id);
    REQUIRE(free_by_node() == std::vector<int>{2, 2});
  }

  void let_go(JobId id) {
    for (const WorkerId worker : std::vector<WorkerId>(pool.story.job(id).membership.workers)) pool.story.exit(worker);
  }
  // Jobs that move keep their size all the time.
  void settle_moved() {
    for (int round = 0; round < 4; ++round) {
      for (const JobId id : jobs) {
        pool.story.settle(id);
        CHECK(pool.story.job(id).size() == 1);
      }
    }
  }
  JobId submit_gang(int priority = 0) {
    core::JobSpec spec = SharedPool::spec("vision", 1);
    spec.gpus_per_worker = 4;
    spec.priority = priority;
    return pool.submit(std::move(spec));
  }
  [[nodiscard]] std::vector<int> free_by_node() const {
    std::vector<int> free;
    for (const auto& [id, node] : pool.story.state().nodes) {
      free.push_back(static_cast<int>(std::count(node.owners.begin(), node.owners.end(), WorkerId())));
    }
    return free;
  }
  [[nodiscard]] std::string told(JobId id) const { return core::sentence(pool.story.job(id).verdict.reason); }
};

// Racks r1 to r3 of a node each. In r1 a worker of three slots is beside three that are free, in r2 two of one slot are
// beside two that are free, and r3 has three that are free.
struct Racks {
  SharedPool pool{{{.name = "vision", .guarantee = 4}, {.name = "speech", .guarantee = 5}}, 6};
  std::vector<NodeId> nodes{NodeId(1)};
  JobId wide;
  std::vector<JobId> singles;

  // `first_max`: the size of the first of the two; from 2 on it can hand its state on.
  explicit Racks(bool preemptible = true, int first_max = 1) {
    label("r1");
    core::JobSpec spec = SharedPool::spec("speech", 1);
    spec.preemptible = preemptible;
    spec.gpus_per_worker = 3;
    wide = pool.running(spec);
    std::vector<JobId> fillers{pool.running("vision", 3)};
    nodes.push_back(pool.story.node(4));
    label("r2");
    spec.gpus_per_worker = 1;
    spec.elastic.cooldown = Duration();
    for (const int size_max : {first_max, 1}) {
      spec.elastic.max = size_max;
      singles.push_back(pool.submit(spec));
      pool.story.settle(singles.back());
      pool.story.pass(Duration::seconds(60));
    }
    fillers.push_back(pool.running("vision", 2));
    nodes.push_back(pool.story.node(3));
    label("r3");
    for (const JobId id : fillers) pool.end(id);
    for (const JobId id : singles) REQUIRE(pool.story.nodes_of(id) == std::vector{nodes[1]});
  }

  void label(const std::string& rack) { pool.story.learn(core::NodeLabelled{nodes.back(), {{"rack", rack}}}); }
  JobId submit_gang() {
    core::JobSpec spec = SharedPool::spec("vision", 4);
    spec.placement.strategy = core::TopologyStrategy::kStrictPack;
    spec.placement.key = "rack";
    return pool.submit(std::move(spec));
  }
  void let_go(JobId id) {
    for (const WorkerId worker : std::vector<WorkerId>(pool.story.job(id).membership.workers)) pool.story.exit(worker);
  }
  [[nodiscard]] std::string told(JobId id) const { return core::explain(pool.story.state(), id).summary; }
};

constexpr const char* kRackCleared = "waits for 4 slots in rack r2; workers of other jobs are moving off nodes for it";

}  // namespace

TEST_CASE("a gang has its guarantee back in one decision where the free slots lie scattered") {
  Scattered scattered;
  SharedPool& pool = scattered.pool;
  const JobId gang = scattered.submit_gang();
  const core::Decision decision = pool.story.decide();
  REQUIRE(preempted_in(decision) == 2);
  CHECK(scattered.told(gang) == "waits for 4 slots on one node; workers of other jobs are moving off nodes for it");
  std::vector<JobId> left;
  for (const auto& planned : decision.plan) left.push_back(core::job_of(planned.intent));
  CHECK(scattered.told(left.front()) ==
        "leaves its nodes, so that " + gang.text() + " finds room on them, and starts again on others");
  for (const JobId id : left) scattered.let_go(id);
  pool.settle_all();
  CHECK(pool.story.job(gang).size() == 1);
  for (const JobId id : scattered.jobs) CHECK(pool.story.job(id).size() == 1);
  CHECK(scattered.free_by_node() == std::vector<int>{0, 0});
}

TEST_CASE("a group that has to be on one node has nodes cleared for it like a worker of as many slots") {
  Scattered scattered(2);
  SharedPool& pool = scattered.pool;
  core::JobSpec spec = SharedPool::spec("vision", 4);
  spec.elastic.group = 4;
  const JobId groups = pool.submit(std::move(spec));
  const core::Decision decision = pool.story.decide();
  REQUIRE(names_of(decision) == "move move");
  CHECK(scattered.told(groups) == "waits for 4 slots on one node; workers of other jobs are moving off nodes for it");
  CHECK_THAT(core::sentence(decision.plan.front().reason),
             Catch::Contains("so that " + groups.text() + " finds 4 slots on one node; "));
  scattered.settle_moved();
  pool.story.settle(groups);
  CHECK(pool.story.job(groups).size() == 4);
}

TEST_CASE("jobs that can hand their state on move for a gang, and are never smaller than they were") {
  Scattered scattered(2);
  SharedPool& pool = scattered.pool;
  const JobId gang = scattered.submit_gang();
  CHECK(names_of(pool.story.decide()) == "move move");
  scattered.settle_moved();
  pool.story.settle(gang);
  CHECK(pool.story.job(gang).size() == 1);
}

TEST_CASE("what others have left for a gang is kept for it, and the rest of the pool goes on") {
  Scattered scattered;
  SharedPool& pool = scattered.pool;
  pool.story.node(2);
  const JobId gang = scattered.submit_gang();
  const core::Decision decision = pool.story.decide();
  REQUIRE(preempted_in(decision) == 2);
  std::vector<JobId> left;
  for (const auto& planned : decision.plan) left.push_back(core::job_of(planned.intent));
  const NodeId cleared = pool.story.worker(pool.story.job(left.front()).membership.workers.front()).node;
  for (int i = 0; i < 2; ++i) {
    const JobId late = pool.submit(SharedPool::spec("speech", 1));
    pool.story.decide();
    REQUIRE(pool.story.job(late).membership.workers.size() == 1);
    CHECK(pool.story.worker(pool.story.job(late).membership.workers.front()).node != cleared);
  }
  for (const JobId id : left) scattered.let_go(id);
  pool.settle_all();
  CHECK(pool.story.job(gang).size() == 1);
  for (const JobId id : scattered.jobs) CHECK(pool.story.job(id).size() == 1);
}

TEST_CASE("a job that finds no room elsewhere stays, and others leave in its place") {
  // Of four slots each node has a job of a worker of two, and two free; or three jobs of one slot, and one free.
  SharedPool pool({{.name = "vision", .guarantee = 4}, {.name = "speech", .guarantee = 8}}, 4);
  for (int i = 1; i < 3; ++i) pool.story.node(4);
  core::JobSpec wide = SharedPool::spec("speech", 1);
  wide.gpus_per_worker = 2;
  std::vector<JobId> fillers{pool.running("vision", 2)};
  const JobId pair = pool.running(wide);
  std::vector<JobId> singles;
  for (int i = 0; i < 2; ++i) {
    fillers.push_back(pool.running("vision", 1));
    for (int k = 0; k < 3; ++k) singles.push_back(pool.running("speech", 1));
  }
  for (const JobId id : fillers) pool.end(id);
  const NodeId home = pool.story.worker(pool.story.job(pair).membership.workers.front()).node;
  core::JobSpec spec = SharedPool::spec("vision", 1);
  spec.gpus_per_worker = 4;
  const JobId gang = pool.submit(spec);
  CHECK(preempted_in(pool.story.decide()) == 3);
  pool.settle_all();
  CHECK(pool.story.job(gang).size() == 1);
  CHECK(pool.story.worker(pool.story.job(pair).membership.workers.front()).node == home);
  for (const JobId id : singles) CHECK(pool.story.job(id).size() == 1);
}

TEST_CASE("a job whose user has fixed its size, or that must not be preempted, leaves no node where it cannot move") {
  const bool is_pinned = GENERATE(true, false);
  Scattered scattered(1, is_pinned);
  SharedPool& pool = scattered.pool;
  for (const JobId id : scattered.jobs) {
    if (is_pinned) pool.story.learn(core::JobResizeRequested{id, 1});
  }
  pool.story.decide();
  const JobId gang = scattered.submit_gang();
  CHECK(names_of(pool.story.decide()).empty());
  CHECK(scattered.told(gang) == "waits for 4 slots; 4 are free, but scattered or kept for others");
  CHECK_THAT(core::explain(pool.story.state(), gang).evidence,
             Catch::VectorContains(std::string("the 4 free slots are scattered (a worker needs 4 slots on one node)")));
}

TEST_CASE("a job that has to be on one node has it cleared like a worker of as many slots") {
  Scattered scattered;
  SharedPool& pool = scattered.pool;
  core::JobSpec spec = SharedPool::spec("vision", 4);
  spec.placement.strategy = core::TopologyStrategy::kStrictPack;
  const JobId packed = pool.submit(std::move(spec));
  const core::Decision decision = pool.story.decide();
  REQUIRE(preempted_in(decision) == 2);
  CHECK(scattered.told(packed) == "waits for 4 slots on one node; workers of other jobs are moving off nodes for it");
  for (const auto& planned : decision.plan) scattered.let_go(core::job_of(planned.intent));
  pool.settle_all();
  CHECK(pool.story.job(packed).size() == 4);
  for (const JobId id : scattered.jobs) CHECK(pool.story.job(id).size() == 1);
}

TEST_CASE("of the racks of which one has to hold a gang that is cleared in which what leaves costs least") {
  Racks racks;
  SharedPool& pool = racks.pool;
  const JobId gang = racks.submit_gang();
  const core::Decision decision = pool.story.decide();
  CHECK(names_of(decision) == "preempt preempt");
  CHECK(racks.told(gang) == kRackCleared);
  // What others have left is kept, and what is free elsewhere is not.
  for (int i = 0; i < 2; ++i) {
    const JobId late = pool.submit(SharedPool::spec("speech", 1));
    pool.story.decide();
    REQUIRE(pool.story.nodes_of(late).size() == 1);
    CHECK(pool.story.nodes_of(late).front() != racks.nodes[1]);
  }
  for (const JobId id : racks.singles) racks.let_go(id);
  pool.settle_all();
  CHECK(pool.story.nodes_of(gang) == std::vector(4, racks.nodes[1]));
  CHECK(pool.story.job(gang).size() == 4);
  CHECK(pool.story.job(racks.wide).size() == 1);
  for (const JobId id : racks.singles) CHECK(pool.story.job(id).size() == 1);
}

TEST_CASE("a rack that others leave stays the one that is kept when slots come free in another one") {
  Racks racks;
  SharedPool& pool = racks.pool;
  const JobId gang = racks.submit_gang();
  REQUIRE(names_of(pool.story.decide()) == "preempt preempt");
  pool.story.learn(core::JobCancelRequested{racks.wide});
  pool.story.decide();
  CHECK(racks.told(gang) == kRackCleared);
  for (const JobId id : racks.singles) racks.let_go(id);
  pool.story.settle(gang);
  CHECK(pool.story.nodes_of(gang) == std::vector(4, racks.nodes[1]));
}

TEST_CASE("a job that can hand its state on moves out of the rack that is cleared, beside one that starts again") {
  Racks racks(true, 2);
  SharedPool& pool = racks.pool;
  const JobId gang = racks.submit_gang();
  const core::Decision decision = pool.story.decide();
  REQUIRE(names_of(decision) == "move preempt");
  CHECK_THAT(core::sentence(decision.plan.front().reason),
             Catch::Contains("moving away from node-2, so that " + gang.text() + " finds 4 slots in rack r2; "));
  for (const auto& joining : std::get<core::MoveIntent>(decision.plan.front().intent).joining_workers) {
    CHECK(joining.node != racks.nodes[1]);
  }
  racks.let_go(racks.singles.back());
  pool.settle_all();
  CHECK(pool.story.job(gang).size() == 4);
  for (const JobId id : racks.singles) CHECK(pool.story.job(id).size() == 1);
}

TEST_CASE("where no rack can be cleared none is, and the gang is told which one has most room") {
  Racks racks(false);
  const JobId gang = racks.submit_gang();
  CHECK(names_of(racks.pool.story.decide()).empty());
  CHECK(racks.told(gang) == "waits for 4 slots in one rack: no rack has so many free, rack r1 has 3");
}

}  // namespace tidepool::test
