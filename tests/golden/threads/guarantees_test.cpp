// Threads in which a guarantee was not had back, or not whole, or late.
#include <catch2/catch.hpp>

#include <algorithm>

#include "core/explain/explain.hpp"
#include "tests/golden/threads/thread_pool.hpp"

namespace tidepool::test {
namespace {

// A job of one slot that keeps it for ten minutes.
core::JobSpec bound_spec(const std::string& tenant) {
  core::JobSpec spec = SharedPool::spec(tenant, 1);
  spec.elastic.min_runtime = Duration::seconds(600);
  return spec;
}

core::JobSpec urgent_spec(const std::string& tenant, int size) {
  core::JobSpec spec = SharedPool::spec(tenant, size);
  spec.priority = 10;
  return spec;
}

}  // namespace

TEST_CASE("kueue#6577: a guarantee is had back before anything is shared by weight") {
  SharedPool pool({{.name = "vision", .weight = 1'000}, {.name = "speech", .guarantee = 4, .weight = 0}});
  run_jobs(pool, "vision", 8, 1);
  submit_jobs(pool, "speech", 8, 1);
  CHECK(victims_of(pool.story.decide()).size() == 4);
  pool.settle_all();
  CHECK(pool.held_by("speech") == 4);
  CHECK(pool.held_by("vision") == 4);
  require_still(pool);
}

TEST_CASE("volcano#4756: a job within its guarantee is let in and makes room in one decision") {
  SharedPool pool({{.name = "lab", .guarantee = 8},
                   {.name = "vision", .parent = "lab", .guarantee = 4},
                   {.name = "speech", .parent = "lab", .guarantee = 4}});
  run_jobs(pool, "vision", 2, 4);
  const JobId claims = pool.submit(SharedPool::spec("speech", 3));
  CHECK(victims_of(pool.story.decide()).size() == 1);
  CHECK(told(pool, claims) == "waits for 3 slots; none is free");
  pool.settle_all();
  CHECK(pool.story.job(claims).size() == 3);
  CHECK(pool.held_by("vision") == 4);
  require_still(pool);
}

TEST_CASE("volcano#4817: a guarantee is had back through every level of the tree") {
  SharedPool pool({{.name = "east", .guarantee = 4},
                   {.name = "lab", .parent = "east", .guarantee = 3},
                   {.name = "vision", .parent = "lab", .guarantee = 3},
                   {.name = "west", .guarantee = 4},
                   {.name = "speech", .parent = "west"}});
  const auto borrowers = run_jobs(pool, "speech", 8, 1);
  const auto claims = submit_jobs(pool, "vision", 3, 1);
  CHECK(victims_of(pool.story.decide()).size() == 3);
  pool.settle_all();
  CHECK(pool.held_by("vision") == 3);
  CHECK(pool.held_by("speech") == 5);
  require_still(pool);
}

TEST_CASE("volcano#3003: a job that cannot be served does not keep those behind it from the guarantee") {
  SharedPool pool(two_halves());
  run_jobs(pool, "vision", 4, 2);
  const JobId too_large = pool.submit(SharedPool::spec("speech", 7));
  const JobId fits = pool.submit(SharedPool::spec("speech", 2));
  CHECK(victims_of(pool.story.decide()).size() == 1);
  pool.settle_all();
  CHECK(pool.story.job(fits).size() == 2);
  CHECK(pool.story.job(too_large).state() == core::JobState::kPending);
  CHECK(told(pool, too_large) == "waits for 7 slots; none is free");
}

TEST_CASE("volcano#1748, volcano#5881: whole workers are had back on nodes that many borrowers share") {
  SharedPool pool({{.name = "vision"}, {.name = "speech", .guarantee = 4}}, 2);
  for (int i = 0; i < 3; ++i) pool.story.node(2);
  run_jobs(pool, "vision", 8, 1);
  core::JobSpec wide = SharedPool::spec("speech", 1);
  wide.gpus_per_worker = 2;
  const JobId claims = pool.submit(wide);
  CHECK(victims_of(pool.story.decide()).size() == 2);  // both of one node
  pool.settle_all();
  CHECK(pool.story.job(claims).size() == 1);
  CHECK(pool.held_by("vision") == 6);
}

TEST_CASE("yunikorn-core#759: with no slot free and as many jobs waiting, the whole guarantee is had in one decision") {
  SharedPool pool({{.name = "vision", .guarantee = 10, .borrow = 20}, {.name = "speech", .borrow = 30}}, 30);
  run_jobs(pool, "speech", 30, 1);
  submit_jobs(pool, "speech", 30, 1);
  submit_jobs(pool, "vision", 10, 1);
  CHECK(victims_of(pool.story.decide()).size() == 10);
  pool.settle_all();
  CHECK(pool.held_by("vision") == 10);
  CHECK(pool.held_by("speech") == 20);
  require_still(pool);
}

TEST_CASE("scheduler-plugins#683: a guarantee is had back although every slot of the pool is in use") {
  SharedPool pool(two_halves());
  run_jobs(pool, "vision", 2, 2);
  run_jobs(pool, "vision", 1, 4);
  const JobId claims = pool.submit(SharedPool::spec("speech", 4));
  CHECK_FALSE(victims_of(pool.story.decide()).empty());
  pool.settle_all();
  CHECK(pool.held_by("vision") == 4);
  CHECK(pool.story.job(claims).size() == 4);
}

TEST_CASE("kueue#6143: claims that come together are met together, and not one after another") {
  SharedPool pool({{.name = "vision"}, {.name = "speech", .guarantee = 8}});
  run_jobs(pool, "vision", 8, 1);
  const auto claims = submit_jobs(pool, "speech", 8, 1);
  CHECK(victims_of(pool.story.decide()).size() == 8);
  for (const auto& [id, worker] : IdTable(pool.story.state().workers)) pool.story.exit(id);
  pool.story.decide();
  for (const JobId claim : claims) CHECK(pool.story.job(claim).state() == core::JobState::kStarting);
}

TEST_CASE(
    "kueue#6489: a victim that does not end is killed after its grace, and the claim starts wherever there is room") {
  SharedPool pool(two_halves());
  run_jobs(pool, "vision", 3, 2);
  const JobId claims = pool.submit(SharedPool::spec("speech", 4));
  const auto victims = victims_of(pool.story.decide());
  REQUIRE(victims.size() == 1);
  const std::vector<WorkerId> stuck = pool.story.job(victims.front()).membership.workers;
  pool.story.pass(pool.story.job(victims.front()).spec.elastic.grace);
  const core::Decision killing = pool.story.decide();
  REQUIRE(names_of(killing) == "stop_worker stop_worker");
  for (const auto& planned : killing.plan) CHECK(std::get<core::StopWorkerIntent>(planned.intent).grace == Duration());
  // Its machine hangs, and no exit is told: its slots stay its own, but the claim goes on wherever there is room.
  pool.story.pass(Duration::seconds(600));
  CHECK(pool.story.job(claims).state() == core::JobState::kPending);
  pool.story.node(4);
  pool.story.settle(claims);
  CHECK(pool.story.job(claims).size() == 4);
  CHECK(pool.story.job(victims.front()).membership.workers == stuck);
}

TEST_CASE("kai#1833: when nodes are gone all guarantees shrink in proportion, and none is taken for another") {
  SharedPool pool({{.name = "vision", .guarantee = 6}, {.name = "speech", .guarantee = 2}}, 4);
  const NodeId lost = pool.story.node(4);
  run_jobs(pool, "vision", 6, 1);
  run_jobs(pool, "speech", 2, 1);
  pool.story.learn(core::NodeLost{lost, "no power"});
  pool.settle_all();
  pool.story.pass(Duration::seconds(600));
  pool.settle_all();
  CHECK(pool.plan("vision").entitled == 3);
  CHECK(pool.plan("speech").entitled == 1);
  CHECK(pool.held_by("vision") == 3);
  CHECK(pool.held_by("speech") == 1);
}

TEST_CASE("kai#2065: a job takes nothing from within another tenant's guarantee, whatever its priority") {
  SharedPool pool({{.name = "vision", .guarantee = 4}, {.name = "speech", .guarantee = 4}});
  run_jobs(pool, "vision", 2, 2);
  run_jobs(pool, "speech", 2, 2);
  core::JobSpec urgent = SharedPool::spec("vision", 2);
  urgent.priority = 100;
  const JobId job = pool.submit(urgent);
  const auto victims = victims_of(pool.story.decide());
  REQUIRE(victims.size() == 1);
  CHECK(pool.story.job(victims.front()).spec.tenant == "vision");  // its own
  pool.settle_all();
  CHECK(pool.story.job(job).size() == 2);
  CHECK(pool.held_by("speech") == 4);
}

TEST_CASE("kai#126: a guarantee waits for the minimum run time of the jobs that hold its slots, and no longer") {
  SharedPool pool(two_halves());
  core::JobSpec spec = SharedPool::spec("vision", 4);
  spec.elastic.min_runtime = Duration::seconds(600);
  (void)pool.running(spec);
  (void)pool.running(spec);
  (void)pool.submit(SharedPool::spec("speech", 4));
  CHECK(victims_of(pool.story.decide()).empty());
  pool.story.pass(Duration::seconds(600));
  CHECK(victims_of(pool.story.decide()).size() == 1);
}

TEST_CASE("nomad#4746: small jobs of another tenant do not starve a large one within its guarantee") {
  SharedPool pool({{.name = "vision"}, {.name = "speech", .guarantee = 6}});
  run_jobs(pool, "vision", 8, 1);
  const JobId large = pool.submit(SharedPool::spec("speech", 6));
  submit_jobs(pool, "vision", 8, 1);
  CHECK(victims_of(pool.story.decide()).size() == 6);
  pool.settle_all();
  CHECK(pool.story.job(large).size() == 6);
}

TEST_CASE("nomad#4746: what small jobs leave is kept for a large one of a higher priority that may not preempt yet") {
  SharedPool pool({}, 4);
  pool.story.learn(core::TenantsConfigured{{.preempt_after = Duration::seconds(std::int64_t{24} * 3'600)}});
  const auto running = run_jobs(pool, "", 4, 1);
  core::JobSpec urgent = SharedPool::spec("", 4);
  urgent.priority = 10;
  const JobId large = pool.submit(urgent);
  std::vector<JobId> newer;
  for (const JobId ends : running) {
    CHECK(pool.story.job(large).state() == core::JobState::kPending);
    newer.push_back(pool.submit(SharedPool::spec("", 1)));
    require_still(pool, 2);
    pool.end(ends);
    pool.settle_all();
    for (const JobId job : newer) CHECK(pool.story.job(job).state() == core::JobState::kPending);
  }
  CHECK(pool.story.job(large).size() == 4);
}

TEST_CASE(
    "nomad#4746: what small jobs leave is kept for a large one until those that may not be preempted yet may be") {
  SharedPool pool({}, 4);
  std::vector<JobId> running;
  for (int i = 0; i < 4; ++i) running.push_back(pool.running(bound_spec("")));
  const JobId large = pool.submit(urgent_spec("", 4));
  std::vector<JobId> newer;
  for (std::size_t i = 0; i < 2; ++i) {
    newer.push_back(pool.submit(bound_spec("")));
    pool.settle_all();
    require_still(pool, 2);
    pool.end(running[i]);
    pool.settle_all();
    CHECK(pool.story.job(large).state() == core::JobState::kPending);
    for (const JobId job : newer) CHECK(pool.story.job(job).state() == core::JobState::kPending);
  }
  CHECK(told(pool, large) == "waits for 4 slots; 2 are free");
  const std::vector<std::string> evidence = core::explain(pool.story.state(), large).evidence;
  const auto names = [&](JobId job) {
    return std::any_of(evidence.begin(), evidence.end(), [&](const std::string& line) {
      return line.starts_with(job.text() + ", of a lower priority, keeps 1 slot until ") &&
             line.ends_with(" UTC, when its minimum run time ends");
    });
  };
  CHECK(names(running[2]));
  CHECK(names(running[3]));
  // The third may be preempted a minute before the fourth: until then it would be for nothing.
  const Instant third = *pool.story.job(running[2]).last_start_at + Duration::seconds(600);
  pool.story.pass(third - pool.story.now());
  CHECK(names_of(pool.story.decide()).empty());
  const Instant fourth = *pool.story.job(running[3]).last_start_at + Duration::seconds(600);
  pool.story.pass(fourth - pool.story.now());
  CHECK(victims_of(pool.story.decide()).size() == 2);
  pool.settle_all();
  CHECK(pool.story.job(large).size() == 4);
}

TEST_CASE("nomad#4746: what is kept for a large job is its tenant's, and no other tenant has it meanwhile") {
  SharedPool pool(two_halves());
  std::vector<JobId> running;
  for (int i = 0; i < 4; ++i) running.push_back(pool.running(bound_spec("vision")));
  const auto others = run_jobs(pool, "speech", 4, 1);
  const JobId large = pool.submit(urgent_spec("vision", 4));
  const auto waiting = submit_jobs(pool, "speech", 4, 1);
  pool.end(running[0]);
  pool.settle_all();
  require_still(pool, 2);
  CHECK(pool.held_by("vision") == 3);
  CHECK(pool.held_by("speech") == 4);
  CHECK(pool.plan("vision").entitled == 4);
  pool.story.pass(Duration::seconds(600));
  CHECK(victims_of(pool.story.decide()).size() == 3);
  pool.settle_all();
  CHECK(pool.story.job(large).size() == 4);
  CHECK(pool.held_by("speech") == 4);
}

}  // namespace tidepool::test
