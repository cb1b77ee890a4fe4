// Threads about shares beyond guarantees, about limits, and about the order in which jobs are served.
#include <catch2/catch.hpp>

#include "tests/golden/threads/thread_pool.hpp"

namespace tidepool::test {

TEST_CASE("kueue#13481, kueue#8975: a tenant of weight 0 gets what no other wants, and nothing else") {
  SharedPool pool({{.name = "vision"}, {.name = "speech", .weight = 0}});
  run_jobs(pool, "vision", 1, 5);
  submit_jobs(pool, "speech", 8, 1);
  pool.settle_all();
  CHECK(pool.held_by("speech") == 3);
  (void)pool.submit(SharedPool::spec("vision", 2));
  pool.story.pass(Duration::seconds(60));
  CHECK(victims_of(pool.story.decide()).size() == 2);
}

TEST_CASE("kueue#13763: the smallest loan counts under the longest half-life") {
  SharedPool pool(two_halves());
  pool.story.learn(core::TenantsConfigured{{.tenants = {{.name = "vision"}, {.name = "speech", .weight = 0}},
                                            .half_life = Duration::seconds(std::int64_t{365} * 86'400),
                                            .rebalance_every = Duration::seconds(1)}});
  const auto jobs = run_jobs(pool, "vision", 8, 1);
  (void)pool.submit(SharedPool::spec("speech", 1));
  for (int i = 0; i < 3; ++i) {
    pool.story.pass(Duration::seconds(61));
    for (const JobId job : jobs) pool.story.steps(job, 1);
    pool.story.decide();
  }
  CHECK(pool.plan("vision").loan > 0);
}

TEST_CASE("kueue 0.18.5, kueue 0.18.6: a limit is not passed by growing later, nor by the name of another tenant") {
  SharedPool pool({{.name = "vision", .guarantee = 4, .job_slots_max = 2}, {.name = "speech", .guarantee = 4}});
  const JobId job = pool.running("vision", 2);
  core::JobSpec larger = SharedPool::spec("vision", 2);
  larger.elastic.max = 4;
  CHECK_THAT(pool.story.refuses(core::JobChanged{job, larger}), Catch::Contains("job_slots_max"));
  CHECK_THAT(pool.story.refuses(core::JobChanged{job, SharedPool::spec("speech", 2)}), Catch::Contains("tenant"));
}

TEST_CASE("llm-d-autoscaling#1447: when another comes the whole pool is divided anew, and not what is free") {
  SharedPool pool({{.name = "vision"}, {.name = "speech"}});
  run_jobs(pool, "vision", 8, 1);
  submit_jobs(pool, "speech", 8, 1);
  CHECK(victims_of(pool.story.decide()).size() == 4);
  pool.settle_all();
  CHECK(pool.held_by("speech") == 4);
  require_still(pool);
}

TEST_CASE("skypilot#5493: equal gangs of which one fits at a time are served in the order in which they came") {
  for (const char* policy : {"tidal", "fifo"}) {
    INFO(policy);
    Story story;
    story.engine() = core::Engine(parts_of(policy));
    for (int i = 0; i < 4; ++i) story.node(1);
    std::vector<JobId> queue;
    for (int i = 0; i < 6; ++i) queue.push_back(story.submit({.min = 4, .max = 4}));
    for (const JobId next : queue) {
      story.settle(next);
      REQUIRE(story.job(next).size() == 4);
      story.pass(Duration::seconds(61));
      story.steps(next, 100);
      story.learn(core::TrainingFinished{next, story.job(next).progress.step, 1.0});
      story.decide();
      for (const WorkerId worker : std::vector<WorkerId>(story.job(next).membership.workers)) story.exit(worker);
    }
  }
}

TEST_CASE("ray#63790: an older job is not kept from its slots by newer ones that come without end") {
  SharedPool pool({}, 4);
  run_jobs(pool, "", 1, 3);
  const JobId oldest = pool.submit(SharedPool::spec("", 4));
  std::vector<JobId> newer;
  int minutes = 0;
  for (; pool.story.job(oldest).size() == 0 && minutes < 180; ++minutes) {
    newer.push_back(pool.submit(SharedPool::spec("", 1)));
    pool.story.pass(Duration::seconds(60));
    pool.settle_all();
    for (const auto& [id, job] : IdTable(pool.story.state().jobs)) {
      if (job->size() > 0) pool.story.steps(id, 1);
    }
  }
  CHECK(minutes < 180);
}

TEST_CASE("ray#40049: a storm of one tenant's jobs in the shared pool takes nothing from another") {
  SharedPool pool({{.name = "vision", .guarantee = 4}, {.name = "speech", .guarantee = 4}});
  run_jobs(pool, "vision", 2, 2);
  submit_jobs(pool, "speech", 50, 1);
  CHECK(victims_of(pool.story.decide()).empty());
  pool.settle_all();
  CHECK(pool.held_by("vision") == 4);
  CHECK(pool.held_by("speech") == 4);
  CHECK(pool.plan("vision").entitled == 4);
  require_still(pool);
}

}  // namespace tidepool::test
