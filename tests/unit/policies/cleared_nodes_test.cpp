// Nodes that are cleared for a gang of another tenant: who leaves, where its slots are kept, and who does not leave.
#include <catch2/catch.hpp>

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

}  // namespace

TEST_CASE("a gang has its guarantee back in one decision where the free slots lie scattered") {
  Scattered scattered;
  SharedPool& pool = scattered.pool;
  const JobId gang = scattered.submit_gang();
  const core::Decision decision = pool.story.decide();
  REQUIRE(preempted_in(decision) == 2);
  CHECK(scattered.told(gang) == "waits for 4 slots of one node; workers of other jobs leave nodes for it");
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
  CHECK(scattered.told(groups) == "waits for 4 slots of one node; workers of other jobs leave nodes for it");
  CHECK_THAT(core::sentence(decision.plan.front().reason),
             Catch::Contains("so that " + groups.text() + " finds 4 slots of one node for a group; "));
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
  CHECK(scattered.told(gang) == "waits for 4 slots; 4 are free, but scattered or kept for other jobs");
}

}  // namespace tidepool::test
