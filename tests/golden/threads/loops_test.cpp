// Threads in which jobs took each other's slots again and again, or more was taken than was needed.
#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "tests/golden/threads/thread_pool.hpp"

namespace tidepool::test {

TEST_CASE("kueue#14543: a preempted job is not started again in place of the job that it was preempted for") {
  SharedPool pool(
      {{.name = "vision", .guarantee = 3}, {.name = "speech", .guarantee = 3}, {.name = "text", .guarantee = 3}}, 9);
  run_jobs(pool, "vision", 3, 2);
  const auto small = run_jobs(pool, "speech", 3, 1);
  // It gives up jobs of its own for the claim, and others would have to give up more than their share for the rest.
  core::JobSpec urgent = SharedPool::spec("text", 3);
  urgent.priority = 10;
  const JobId claims = pool.submit(urgent);
  const auto victims = victims_of(pool.story.decide());
  REQUIRE(victims.size() == 2);
  for (const JobId victim : victims) CHECK(pool.story.job(victim).spec.tenant == "vision");
  pool.settle_all();
  CHECK(pool.story.job(claims).size() == 3);
  for (const JobId job : small) CHECK(pool.story.job(job).size() == 1);
  for (const JobId victim : victims) CHECK(pool.story.job(victim).state() == core::JobState::kPending);
  require_still(pool);
}

TEST_CASE("kueue#3779, kueue#7101: a job that gave way once is not taken from again by claims that come later") {
  SharedPool pool(
      {{.name = "vision", .guarantee = 3}, {.name = "speech", .guarantee = 3}, {.name = "guests", .weight = 100}}, 9);
  run_jobs(pool, "guests", 9, 1);
  std::multiset<JobId> victims;
  for (int claim = 0; claim < 3; ++claim) {
    for (const char* tenant : {"vision", "speech"}) {
      (void)pool.submit(SharedPool::spec(tenant, 1));
      for (const JobId victim : victims_of(pool.story.decide())) victims.insert(victim);
      pool.settle_all();
      require_still(pool, 2);
    }
  }
  CHECK(victims.size() == 6);
  for (const JobId victim : victims) CHECK(victims.count(victim) == 1);
  CHECK(pool.held_by("guests") == 3);
}

TEST_CASE("volcano#377: after a reclaim nothing more is taken from any job") {
  SharedPool pool(two_halves());
  run_jobs(pool, "vision", 4, 2);
  submit_jobs(pool, "speech", 4, 1);
  pool.story.decide();
  pool.settle_all();
  CHECK(pool.held_by("speech") == 4);
  require_still(pool);
}

TEST_CASE("volcano#561, volcano#3729: two tenants that cannot share evenly do not take turns") {
  SharedPool pool({{.name = "vision"}, {.name = "speech"}}, 3);
  submit_jobs(pool, "vision", 3, 1);
  submit_jobs(pool, "speech", 3, 1);
  pool.settle_all();
  CHECK(pool.held_by("vision") + pool.held_by("speech") == 3);
  require_still(pool);
}

TEST_CASE("kueue#13797: a victim does not take back what was freed for another") {
  SharedPool pool(two_halves());
  run_jobs(pool, "vision", 4, 2);
  const JobId claims = pool.submit(SharedPool::spec("speech", 4));
  CHECK(victims_of(pool.story.decide()).size() == 2);
  // Another job of the tenant that lost comes while the workers of the first victim are gone and those of the other are
  // not.
  (void)pool.submit(SharedPool::spec("vision", 2));
  std::vector<WorkerId> leaving;
  for (const auto& [id, worker] : pool.story.state().workers) {
    if (worker.phase == core::WorkerPhase::kLeaving) leaving.push_back(id);
  }
  REQUIRE(leaving.size() == 4);
  for (const WorkerId worker : leaving) {
    pool.story.exit(worker);
    const core::Decision decision = pool.story.decide();
    for (const auto& planned : decision.plan) {
      if (const auto* start = std::get_if<core::StartIntent>(&planned.intent)) CHECK(start->job == claims);
    }
  }
  pool.settle_all();
  CHECK(pool.story.job(claims).size() == 4);
  require_still(pool);
}

TEST_CASE("slurm#203: while victims save their state no plan is made that takes more") {
  SharedPool pool(two_halves());
  run_jobs(pool, "vision", 8, 1);
  (void)pool.submit(SharedPool::spec("speech", 3));
  CHECK(victims_of(pool.story.decide()).size() == 3);
  for (int i = 0; i < 10; ++i) {
    pool.story.pass(Duration::seconds(2));
    (void)pool.submit(SharedPool::spec("vision", 1));  // so that all is planned anew
    CHECK(victims_of(pool.story.decide()).empty());
  }
}

TEST_CASE("armada: a preempted job that is submitted once more triggers no further preemption") {
  SharedPool pool(two_halves());
  run_jobs(pool, "vision", 4, 2);
  submit_jobs(pool, "speech", 2, 2);
  pool.story.decide();
  pool.settle_all();
  submit_jobs(pool, "vision", 2, 2);
  pool.story.decide();
  require_still(pool);
}

TEST_CASE("armada#5073: slots are not taken from a job that ends before it could be started again") {
  for (const std::int64_t steps_left : {20, 200'000}) {
    SharedPool pool({{.name = "vision"}, {.name = "speech", .guarantee = 2}}, 2);
    core::JobSpec spec = SharedPool::spec("vision", 2);
    spec.work_samples = 64 * (1'000 + steps_left);
    const JobId runs = pool.submit(spec);
    pool.story.decide();
    pool.story.pass(Duration::seconds(20));  // so long its workers boot
    pool.story.settle(runs);
    pool.story.steps(runs, 1'000 - pool.story.job(runs).progress.step);
    const JobId claims = pool.submit(SharedPool::spec("speech", 2));
    const auto victims = victims_of(pool.story.decide());
    if (steps_left > 20) {
      CHECK(victims == std::vector{runs});
      continue;
    }
    CHECK(victims.empty());
    CHECK(told(pool, runs) == "keeps its slots: it ends in about 2 s, sooner than it could be started again");
    pool.story.steps(runs, steps_left);
    pool.story.learn(core::TrainingFinished{runs, pool.story.job(runs).progress.step, 1.0});
    pool.story.decide();
    const std::vector<WorkerId> workers = pool.story.job(runs).membership.workers;
    for (const WorkerId worker : workers) pool.story.exit(worker);
    pool.story.settle(claims);
    CHECK(pool.story.job(claims).size() == 2);
  }
}

TEST_CASE("armada#5073: shares come about at the rate that the pool's limit allows, and by jobs that end before that") {
  SharedPool pool({});
  pool.story.learn(core::TenantsConfigured{{.tenants = {{.name = "vision"}, {.name = "speech"}},
                                            .churn = core::ChurnLimit{.pool = 1, .window = Duration::seconds(600)}}});
  const auto runs = run_jobs(pool, "vision", 8, 1);
  submit_jobs(pool, "speech", 8, 1);
  CHECK(victims_of(pool.story.decide()).size() == 1);
  pool.settle_all();
  CHECK(pool.held_by("speech") == 1);
  CHECK(pool.plan("speech").entitled == 4);
  pool.end(runs.front());  // as a job does in its time
  pool.settle_all();
  CHECK(pool.held_by("speech") == 2);
  for (const int held : {3, 4}) {
    require_still(pool, 9);
    pool.story.pass(Duration::seconds(61));
    CHECK(victims_of(pool.story.decide()).size() == 1);
    pool.settle_all();
    CHECK(pool.held_by("speech") == held);
  }
  CHECK(pool.held_by("vision") == 4);
  require_still(pool);
}

namespace {

// Jobs of both tenants run, of the one beyond its share; then both send urgent jobs, that one first. The pool's limit
// allows one preemption.
SharedPool limited_and_contended(int guarantee) {
  SharedPool pool({});
  pool.story.learn(core::TenantsConfigured{{.tenants = {{.name = "vision"}, {.name = "speech", .guarantee = guarantee}},
                                            .churn = core::ChurnLimit{.pool = 1, .window = Duration::seconds(3600)}}});
  run_jobs(pool, "vision", 6, 1);
  run_jobs(pool, "speech", 2, 1);
  for (const char* tenant : {"vision", "speech", "speech", "speech", "speech"}) {
    core::JobSpec urgent = SharedPool::spec(tenant, 1);
    urgent.priority = 10;
    (void)pool.submit(urgent);
  }
  return pool;
}

}  // namespace

TEST_CASE("armada#5073: what the pool's limit lets through takes nothing from a tenant that has less than its share") {
  SharedPool pool = limited_and_contended(0);
  const auto victims = victims_of(pool.story.decide());
  REQUIRE(victims.size() == 1);
  CHECK(pool.plan("vision").entitled == 4);
  CHECK(pool.story.job(victims.front()).spec.tenant == "vision");
  pool.settle_all();
  CHECK(pool.held_by("speech") == 2);
}

TEST_CASE("armada#5073: guarantees are served before the preemptions that the pool's limit still allows") {
  SharedPool pool = limited_and_contended(4);
  const auto victims = victims_of(pool.story.decide());
  CHECK(victims.size() == 2);
  for (const JobId victim : victims) CHECK(pool.story.job(victim).spec.tenant == "vision");
  pool.settle_all();
  CHECK(pool.held_by("speech") == 4);
  CHECK(pool.held_by("vision") == 4);
}

TEST_CASE(
    "armada#5071: a job that a decision preempts starts in no other place of it, and costs no second job its slots") {
  SharedPool pool({{.name = "vision"}, {.name = "speech", .guarantee = 2}}, 4);
  pool.story.node(2);
  const auto jobs = run_jobs(pool, "vision", 3, 2);
  const JobId claims = pool.submit(SharedPool::spec("speech", 2));
  const core::Decision decision = pool.story.decide();
  const auto victims = victims_of(decision);
  REQUIRE(victims.size() == 1);
  CHECK(names_of(decision) == "preempt");
  pool.settle_all();
  CHECK(pool.story.job(claims).size() == 2);
  CHECK(pool.story.job(victims.front()).state() == core::JobState::kPending);
  require_still(pool);
}

TEST_CASE("yunikorn-site#457: each of many jobs that are preempted at once is told for which job") {
  SharedPool pool({{.name = "vision"}, {.name = "speech", .guarantee = 6}});
  run_jobs(pool, "vision", 8, 1);
  const JobId large = pool.submit(SharedPool::spec("speech", 4));
  const JobId other = pool.submit(SharedPool::spec("speech", 2));
  const auto victims = victims_of(pool.story.decide());
  REQUIRE(victims.size() == 6);
  std::map<std::string, int> sentences;
  for (const JobId victim : victims) ++sentences[told(pool, victim)];
  CHECK(sentences.at("preempted for " + large.text() + " (rule: guarantee)") == 4);
  CHECK(sentences.at("preempted for " + other.text() + " (rule: guarantee)") == 2);
}

}  // namespace tidepool::test
