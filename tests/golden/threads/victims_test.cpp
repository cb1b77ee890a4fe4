// Threads about who gives way: which jobs, how many of them, what they lose and what they are told.
#include <catch2/catch.hpp>

#include "tests/golden/threads/thread_pool.hpp"

namespace tidepool::test {

TEST_CASE("volcano#1256: no job is preempted without which the others make enough room") {
  SharedPool pool(two_halves());
  run_jobs(pool, "vision", 4, 1);
  run_jobs(pool, "vision", 1, 4);
  (void)pool.submit(SharedPool::spec("speech", 4));
  const auto victims = victims_of(pool.story.decide());
  pool.settle_all();
  CHECK(pool.held_by("speech") == 4);
  CHECK(pool.held_by("vision") == 4);
  CHECK((victims.size() == 1 || victims.size() == 4));  // the large one, or all of the small ones
}

TEST_CASE(
    "kueue#6763: of two tenants with equal claims the same job gives way however often it is decided, and one only") {
  std::vector<JobId> victims;
  for (const bool reversed : {false, true}) {
    const std::string first = reversed ? "zebra" : "ant";
    const std::string second = reversed ? "ant" : "zebra";
    SharedPool pool({{.name = first}, {.name = second}, {.name = "speech", .guarantee = 2}});
    for (int i = 0; i < 2; ++i) {
      run_jobs(pool, first, 1, 2);
      run_jobs(pool, second, 1, 2);
    }
    const JobId claims = pool.submit(SharedPool::spec("speech", 2));
    const auto taken = victims_of(pool.story.decide());
    REQUIRE(taken.size() == 1);
    for (int i = 0; i < 5; ++i) {
      pool.story.pass(Duration::seconds(1));
      CHECK(names_of(pool.story.decide()).empty());
    }
    pool.settle_all();
    CHECK(pool.story.job(claims).size() == 2);
    victims.push_back(taken.front());
  }
  CHECK(victims[0] == victims[1]);  // names decide nothing
}

TEST_CASE("kueue#10131: within a branch only those are taken from who have more than their guarantee") {
  SharedPool pool({{.name = "east", .guarantee = 4},
                   {.name = "vision", .parent = "east", .guarantee = 4},
                   {.name = "sound", .parent = "east"},
                   {.name = "west", .guarantee = 4}});
  run_jobs(pool, "sound", 4, 1);
  run_jobs(pool, "vision", 4, 1);
  submit_jobs(pool, "west", 4, 1);
  CHECK(victims_of(pool.story.decide()).size() == 4);
  pool.settle_all();
  CHECK(pool.held_by("vision") == 4);
  CHECK(pool.held_by("sound") == 0);
  CHECK(pool.held_by("west") == 4);
}

TEST_CASE("kueue#477: a job that gives way saves its state first, and goes on at that step") {
  SharedPool pool({{.name = "vision"}, {.name = "speech", .guarantee = 8}});
  const JobId victim = pool.running("vision", 8);
  pool.story.steps(victim, 600);
  const std::int64_t step = pool.story.job(victim).progress.step;
  const JobId claims = pool.submit(SharedPool::spec("speech", 8));
  REQUIRE(victims_of(pool.story.decide()) == std::vector{victim});
  const core::Membership leaving = pool.story.job(victim).membership;
  pool.story.learn(core::StateParked{victim, leaving.workers.front(), leaving.generation, step, 1000, 2});
  for (const WorkerId worker : leaving.workers) pool.story.exit(worker);
  pool.story.settle(claims);
  CHECK(pool.story.job(victim).progress.step == step);
  pool.story.learn(core::JobCancelRequested{claims});
  pool.story.decide();
  for (const WorkerId worker : std::vector<WorkerId>(pool.story.job(claims).membership.workers)) {
    pool.story.exit(worker);
  }
  pool.story.decide();
  for (const WorkerId worker : std::vector<WorkerId>(pool.story.job(victim).membership.workers)) {
    pool.story.ready(worker);
  }
  pool.story.decide();
  const core::Membership& again = pool.story.job(victim).membership;
  pool.story.learn(core::StateRestored{victim, again.generation, step, 1000, ""});
  CHECK(pool.story.job(victim).progress.step == step);
  CHECK(pool.story.job(victim).recovery.restarts == 0);
}

TEST_CASE("kueue#3909: both sides of a preemption read which job it was for, whose guarantee, and what they wait for") {
  SharedPool pool(two_halves());
  run_jobs(pool, "vision", 4, 2);
  const JobId claims = pool.submit(SharedPool::spec("speech", 4));
  const auto victims = victims_of(pool.story.decide());
  REQUIRE(victims.size() == 2);
  CHECK(told(pool, victims.front()) == "preempted for " + claims.text());
  CHECK(told(pool, claims) == "waits for 4 slots; none is free");
  const std::vector<std::string> waits = core::explain(pool.story.state(), claims).evidence;
  CHECK_THAT(waits, Catch::VectorContains(victims[1].text() + " and " + victims[0].text() + " give up 4 slots for it"));
  CHECK_THAT(waits, Catch::VectorContains(std::string(
                        "tenant speech may have 4 slots now, 4 of them guaranteed; its jobs hold 0 and could use 4")));
  pool.settle_all();
  CHECK(told(pool, victims.front()) == "waits for 2 slots: other jobs come first");
  const core::Explanation why = core::explain(pool.story.state(), victims.front());
  CHECK_THAT(
      why.evidence,
      Catch::VectorContains(std::string("tenant vision may have 4 slots now, 4 of them guaranteed; its jobs hold 4")));
}

TEST_CASE("armada#2280: a job that has not started is not said to be preempted, and one that boots loses nothing") {
  SharedPool pool(two_halves());
  run_jobs(pool, "vision", 3, 2);
  const JobId boots = pool.submit(SharedPool::spec("vision", 2));
  pool.story.decide();
  REQUIRE(pool.story.job(boots).state() == core::JobState::kStarting);
  const auto waiting = submit_jobs(pool, "vision", 2, 2);
  submit_jobs(pool, "speech", 4, 1);
  const auto victims = victims_of(pool.story.decide());
  CHECK(victims.size() == 2);
  pool.settle_all();
  for (const JobId job : waiting) {
    CHECK(pool.story.job(job).state() == core::JobState::kPending);
    CHECK(pool.story.job(job).verdict.reason != pool.story.job(victims.front()).verdict.reason);
  }
  CHECK(pool.held_by("speech") == 4);
}

TEST_CASE("determined#3340: of equal jobs the newest gives way, and it is the first to go on") {
  SharedPool pool({}, 2);
  const auto jobs = run_jobs(pool, "", 2, 1);
  const JobId third = pool.submit(SharedPool::spec("", 1));
  pool.story.decide();
  core::JobSpec urgent = SharedPool::spec("", 1);
  urgent.priority = 10;
  const JobId fourth = pool.submit(urgent);
  CHECK(victims_of(pool.story.decide()) == std::vector{jobs[1]});
  pool.settle_all();
  REQUIRE(pool.story.job(fourth).size() == 1);
  pool.story.learn(core::JobCancelRequested{fourth});
  pool.settle_all();
  CHECK(pool.story.job(jobs[1]).size() == 1);
  CHECK(pool.story.job(third).state() == core::JobState::kPending);
}

TEST_CASE("determined#3574: a job that came later preempts none of its priority") {
  SharedPool pool({}, 2);
  run_jobs(pool, "", 2, 1);
  const auto later = submit_jobs(pool, "", 4, 1);
  CHECK(victims_of(pool.story.decide()).empty());
  require_still(pool);
  for (const JobId job : later) CHECK(pool.story.job(job).state() == core::JobState::kPending);
}

TEST_CASE("nomad#16232, nomad#5898: a job of a higher priority has the slots of one of a lower, at once") {
  SharedPool pool({}, 12);
  const JobId low = pool.running("", 11);
  core::JobSpec urgent = SharedPool::spec("", 11);
  urgent.priority = 100;
  const JobId high = pool.submit(urgent);
  CHECK(victims_of(pool.story.decide()) == std::vector{low});
  pool.settle_all();
  CHECK(pool.story.job(high).size() == 11);
  CHECK(pool.story.job(low).state() == core::JobState::kPending);
  require_still(pool);
}

TEST_CASE("nomad#9890: what was preempted goes on as soon as there is room") {
  SharedPool pool(two_halves());
  run_jobs(pool, "vision", 4, 2);
  const JobId claims = pool.submit(SharedPool::spec("speech", 2));
  pool.story.decide();
  pool.settle_all();
  REQUIRE(pool.story.job(claims).size() == 2);
  REQUIRE(pool.held_by("vision") == 6);
  pool.story.learn(core::JobCancelRequested{claims});
  pool.story.decide();
  for (const WorkerId worker : std::vector<WorkerId>(pool.story.job(claims).membership.workers)) {
    pool.story.exit(worker);
  }
  pool.settle_all();
  CHECK(pool.held_by("vision") == 8);
}

TEST_CASE(
    "hail#13395: a job that must not be preempted is not, within its tenant's guarantee, however often others are") {
  SharedPool pool({{.name = "vision", .guarantee = 2}, {.name = "speech", .guarantee = 6}});
  core::JobSpec firm = SharedPool::spec("vision", 2);
  firm.preemptible = false;
  firm.priority = -10;  // any other would go on in its place
  const JobId keeps = pool.running(firm);
  for (int round = 0; round < 3; ++round) {
    run_jobs(pool, "vision", 3, 2);
    const JobId claims = pool.submit(SharedPool::spec("speech", 6));
    const auto victims = victims_of(pool.story.decide());
    CHECK(victims.size() == 3);
    CHECK_THAT(victims, !Catch::VectorContains(keeps));
    pool.settle_all();
    REQUIRE(pool.story.job(claims).size() == 6);
    for (const auto& [id, job] : IdTable(pool.story.state().jobs)) {
      if (id == keeps) continue;
      pool.story.learn(core::JobCancelRequested{id});
      pool.story.decide();
      for (const WorkerId worker : std::vector<WorkerId>(job->membership.workers)) pool.story.exit(worker);
    }
    pool.settle_all();
  }
  CHECK(pool.story.job(keeps).size() == 2);
}

TEST_CASE(
    "kueue#14554, kueue#8826: who preempts, and when, is set tenant by tenant, down to a job that goes before all") {
  SharedPool pool({{.name = "hero", .guarantee = 6},
                   {.name = "patient", .priority_max = 0, .preempt_after = Duration::seconds(600)},
                   {.name = "guests"}});
  run_jobs(pool, "guests", 8, 1);
  // Its tenant's jobs wait ten minutes before others give way for what they are owed beyond guarantees.
  (void)pool.submit(SharedPool::spec("patient", 1));
  CHECK(victims_of(pool.story.decide()).empty());
  core::JobSpec spec = SharedPool::spec("patient", 1);
  spec.priority = 1;
  CHECK_THAT(pool.story.refuses(core::JobSubmitted{pool.story.engine().next_job_id(), spec}),
             Catch::Contains("priority_max"));
  // The hero has all that it is guaranteed, at once.
  const JobId hero = pool.submit(SharedPool::spec("hero", 6));
  CHECK(victims_of(pool.story.decide()).size() == 6);
  pool.settle_all();
  CHECK(pool.story.job(hero).size() == 6);
  CHECK(pool.held_by("patient") == 0);
  pool.story.pass(Duration::seconds(600));
  CHECK(victims_of(pool.story.decide()).size() == 1);
  pool.settle_all();
  CHECK(pool.held_by("patient") == 1);
  CHECK(pool.held_by("hero") == 6);
}

}  // namespace tidepool::test
