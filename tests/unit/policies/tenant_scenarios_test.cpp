// What has gone wrong in other schedulers that share a pool, by the threads that tell of it.
#include <catch2/catch.hpp>

#include "tests/support/shared_pool.hpp"

namespace tidepool::test {
namespace {

// Without an outside event: whatever the engine decides, nothing more is taken from a job.
void require_quiet(SharedPool& pool) {
  for (int i = 0; i < 6; ++i) {
    pool.story.pass(Duration::seconds(61));
    REQUIRE(preempted_in(pool.story.decide()) == 0);
  }
}

const std::vector<core::Tenant> kTwoHalves{{.name = "vision", .guarantee = 4}, {.name = "speech", .guarantee = 4}};

}  // namespace

TEST_CASE("kueue#6577: a guarantee is had back before anything is shared by weight") {
  SharedPool pool({{.name = "vision", .weight = 1'000}, {.name = "speech", .guarantee = 4, .weight = 0}});
  for (int i = 0; i < 8; ++i) (void)pool.running("vision", 1);
  for (int i = 0; i < 8; ++i) (void)pool.submit(SharedPool::spec("speech", 1));
  CHECK(preempted_in(pool.story.decide()) == 4);
  pool.settle_all();
  CHECK(pool.held_by("speech") == 4);
  CHECK(pool.held_by("vision") == 4);
}

TEST_CASE("kueue#13481, kueue#8975: a tenant of weight 0 gets what no other wants, and nothing else") {
  SharedPool pool({{.name = "vision"}, {.name = "speech", .weight = 0}});
  (void)pool.running("vision", 5);
  for (int i = 0; i < 8; ++i) (void)pool.submit(SharedPool::spec("speech", 1));
  pool.settle_all();
  CHECK(pool.held_by("speech") == 3);
  (void)pool.submit(SharedPool::spec("vision", 2));
  pool.story.pass(Duration::seconds(60));
  CHECK(preempted_in(pool.story.decide()) == 2);
}

TEST_CASE("kueue#13763: the smallest loan counts under the longest half-life") {
  SharedPool pool(kTwoHalves);
  pool.story.learn(core::TenantsConfigured{{.tenants = {{.name = "vision"}, {.name = "speech", .weight = 0}},
                                            .half_life = Duration::seconds(std::int64_t{365} * 86'400),
                                            .rebalance_every = Duration::seconds(1)}});
  std::vector<JobId> jobs;
  for (int i = 0; i < 8; ++i) jobs.push_back(pool.running("vision", 1));
  (void)pool.submit(SharedPool::spec("speech", 1));
  for (int i = 0; i < 3; ++i) {
    pool.story.pass(Duration::seconds(61));
    for (const JobId job : jobs) pool.story.steps(job, 1);
    pool.story.decide();
  }
  CHECK(pool.plan("vision").loan > 0);
}

TEST_CASE("kueue#14543, kueue#3779, kueue#7101, volcano#377: after a reclaim nothing more is taken from any job") {
  SharedPool pool(kTwoHalves);
  for (int i = 0; i < 4; ++i) (void)pool.running("vision", 2);
  for (int i = 0; i < 4; ++i) (void)pool.submit(SharedPool::spec("speech", 1));
  pool.story.decide();
  pool.settle_all();
  CHECK(pool.held_by("speech") == 4);
  require_quiet(pool);
}

TEST_CASE("volcano#561, volcano#3729: two tenants who cannot share evenly do not take turns") {
  SharedPool pool({{.name = "vision"}, {.name = "speech"}}, 3);
  for (int i = 0; i < 3; ++i) (void)pool.submit(SharedPool::spec("vision", 1));
  for (int i = 0; i < 3; ++i) (void)pool.submit(SharedPool::spec("speech", 1));
  pool.settle_all();
  CHECK(pool.held_by("vision") + pool.held_by("speech") == 3);
  require_quiet(pool);
}

TEST_CASE("kueue#13797: a victim does not take back what was freed for another") {
  SharedPool pool(kTwoHalves);
  std::vector<JobId> victims;
  for (int i = 0; i < 4; ++i) victims.push_back(pool.running("vision", 2));
  const JobId claims = pool.submit(SharedPool::spec("speech", 4));
  CHECK(preempted_in(pool.story.decide()) == 2);
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
}

TEST_CASE("kueue#12931, kueue#13646: slots are another's once the workers on them are gone, and no sooner") {
  SharedPool pool(kTwoHalves);
  for (int i = 0; i < 4; ++i) (void)pool.running("vision", 2);
  const JobId claims = pool.submit(SharedPool::spec("speech", 2));
  CHECK(preempted_in(pool.story.decide()) == 1);
  for (int i = 0; i < 5; ++i) {
    pool.story.pass(Duration::seconds(1));
    pool.story.decide();
    CHECK(pool.story.job(claims).state() == core::JobState::kPending);
  }
  pool.settle_all();
  CHECK(pool.story.job(claims).size() == 2);
}

TEST_CASE("kueue 0.18.5, kueue 0.18.6: a limit is not passed by growing later, nor by the name of another tenant") {
  SharedPool pool({{.name = "vision", .guarantee = 4, .job_slots_max = 2}, {.name = "speech", .guarantee = 4}});
  const JobId job = pool.running("vision", 2);
  core::JobSpec larger = SharedPool::spec("vision", 2);
  larger.elastic.max = 4;
  CHECK_THAT(pool.story.refuses(core::JobChanged{job, larger}), Catch::Contains("job_slots_max"));
  CHECK_THAT(pool.story.refuses(core::JobChanged{job, SharedPool::spec("speech", 2)}), Catch::Contains("tenant"));
}

TEST_CASE("volcano#1256: no job is preempted without which the others make enough room") {
  SharedPool pool(kTwoHalves);
  for (int i = 0; i < 4; ++i) (void)pool.running("vision", 1);
  (void)pool.running("vision", 4);
  (void)pool.submit(SharedPool::spec("speech", 4));
  const int taken = preempted_in(pool.story.decide());
  pool.settle_all();
  CHECK(pool.held_by("speech") == 4);
  CHECK(pool.held_by("vision") == 4);
  CHECK((taken == 1 || taken == 4));  // the large one, or all of the small ones
}

TEST_CASE("slurm#203: while victims save their state no plan is made that takes more") {
  SharedPool pool(kTwoHalves);
  for (int i = 0; i < 8; ++i) (void)pool.running("vision", 1);
  (void)pool.submit(SharedPool::spec("speech", 3));
  CHECK(preempted_in(pool.story.decide()) == 3);
  for (int i = 0; i < 10; ++i) {
    pool.story.pass(Duration::seconds(2));
    CHECK(preempted_in(pool.story.decide()) == 0);
  }
}

TEST_CASE("kueue#10131: within a branch only those are taken from who have more than their guarantee") {
  SharedPool pool({{.name = "east", .guarantee = 4},
                   {.name = "vision", .parent = "east", .guarantee = 4},
                   {.name = "sound", .parent = "east"},
                   {.name = "west", .guarantee = 4}});
  for (int i = 0; i < 4; ++i) (void)pool.running("sound", 1);
  for (int i = 0; i < 4; ++i) (void)pool.running("vision", 1);
  for (int i = 0; i < 4; ++i) (void)pool.submit(SharedPool::spec("west", 1));
  CHECK(preempted_in(pool.story.decide()) == 4);
  pool.settle_all();
  CHECK(pool.held_by("vision") == 4);
  CHECK(pool.held_by("sound") == 0);
  CHECK(pool.held_by("west") == 4);
}

TEST_CASE("KAI#126: a guarantee waits for the minimum run time of those who hold its slots, and no longer") {
  SharedPool pool(kTwoHalves);
  core::JobSpec spec = SharedPool::spec("vision", 4);
  spec.elastic.min_runtime = Duration::seconds(600);
  (void)pool.running(spec);
  (void)pool.running(spec);
  (void)pool.submit(SharedPool::spec("speech", 4));
  CHECK(preempted_in(pool.story.decide()) == 0);
  pool.story.pass(Duration::seconds(600));
  CHECK(preempted_in(pool.story.decide()) == 1);
}

TEST_CASE("llm-d-autoscaling#1447: when another comes the whole pool is divided anew, and not what is free") {
  SharedPool pool({{.name = "vision"}, {.name = "speech"}});
  for (int i = 0; i < 8; ++i) (void)pool.running("vision", 1);
  for (int i = 0; i < 8; ++i) (void)pool.submit(SharedPool::spec("speech", 1));
  CHECK(preempted_in(pool.story.decide()) > 0);
  pool.settle_all();
  CHECK(pool.held_by("speech") >= 3);
}

TEST_CASE("nomad#9890: what was preempted goes on as soon as there is room, with its state") {
  SharedPool pool(kTwoHalves);
  std::vector<JobId> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(pool.running("vision", 2));
  const JobId claims = pool.submit(SharedPool::spec("speech", 2));
  pool.story.decide();
  pool.settle_all();
  REQUIRE(pool.story.job(claims).size() == 2);
  REQUIRE(pool.held_by("vision") == 6);
  pool.story.learn(core::JobCancelRequested{claims});
  pool.story.decide();
  for (const WorkerId worker : std::vector<WorkerId>(pool.story.job(claims).membership.workers))
    pool.story.exit(worker);
  pool.settle_all();
  CHECK(pool.held_by("vision") == 8);
}

TEST_CASE("nomad#4746: small jobs of another tenant do not starve a large one within its guarantee") {
  SharedPool pool({{.name = "vision"}, {.name = "speech", .guarantee = 6}});
  for (int i = 0; i < 8; ++i) (void)pool.running("vision", 1);
  const JobId large = pool.submit(SharedPool::spec("speech", 6));
  for (int i = 0; i < 8; ++i) (void)pool.submit(SharedPool::spec("vision", 1));
  CHECK(preempted_in(pool.story.decide()) == 6);
  pool.settle_all();
  CHECK(pool.story.job(large).size() == 6);
}

TEST_CASE("Armada: a preempted job that is submitted once more triggers no further preemption") {
  SharedPool pool(kTwoHalves);
  for (int i = 0; i < 4; ++i) (void)pool.running("vision", 2);
  for (int i = 0; i < 2; ++i) (void)pool.submit(SharedPool::spec("speech", 2));
  pool.story.decide();
  pool.settle_all();
  for (int i = 0; i < 2; ++i) (void)pool.submit(SharedPool::spec("vision", 2));
  require_quiet(pool);
}

}  // namespace tidepool::test
