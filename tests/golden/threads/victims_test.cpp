// Threads about the jobs that give way: which, how many of them, what they lose and what they are told.
#include <catch2/catch.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/explain/explain.hpp"
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

TEST_CASE("kueue#10131: within a branch slots are taken only from tenants that have more than their guarantee") {
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

TEST_CASE(
    "kueue#10131: of branches with equal shares no more is taken than is claimed, from jobs of low priority first") {
  for (const bool reversed : {false, true}) {
    const std::string first = reversed ? "zebra" : "ant";
    const std::string second = reversed ? "ant" : "zebra";
    std::vector<core::Tenant> tree;
    for (const std::string& team : {first, second, std::string("owl")}) {
      const int guarantee = team == "owl" ? 4 : 2;
      tree.push_back({.name = team, .guarantee = guarantee});
      tree.push_back({.name = team + "-own", .parent = team, .guarantee = guarantee, .borrow = 0});
      tree.push_back({.name = team + "-spare", .parent = team});
    }
    SharedPool pool(std::move(tree));
    std::map<std::string, JobId> low;
    std::vector<JobId> high;
    for (const std::string& team : {first, second}) {
      for (const int priority : {-10, 10}) {
        core::JobSpec spec = SharedPool::spec(team + "-spare", 2);
        spec.priority = priority;
        const JobId job = pool.running(spec);
        if (priority < 0) low[team] = job;
        if (priority > 0) high.push_back(job);
      }
    }
    std::vector<JobId> taken;
    for (int claim = 0; claim < 2; ++claim) {
      (void)pool.submit(SharedPool::spec("owl-own", 2));
      const auto victims = victims_of(pool.story.decide());
      REQUIRE(victims.size() == 1);
      taken.push_back(victims.front());
      pool.settle_all();
      require_still(pool, 2);
    }
    CHECK(taken == std::vector{low[second], low[first]});
    CHECK(pool.held_by("owl-own") == 4);
    for (const JobId job : high) CHECK(pool.story.job(job).size() == 2);
  }
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
  CHECK(told(pool, victims.front()) == "preempted for " + claims.text() + " (rule: guarantee)");
  CHECK(told(pool, claims) == "waits for 4 slots; none is free");
  const std::vector<std::string> waits = core::explain(pool.story.state(), claims).evidence;
  CHECK_THAT(waits, Catch::VectorContains(victims[1].text() + " and " + victims[0].text() + " release 4 slots for it"));
  CHECK_THAT(
      waits,
      Catch::VectorContains(std::string(
          "tenant speech may have 4 slots now, 4 of them guaranteed; its jobs hold 0 slots and could use 4 slots")));
  pool.settle_all();
  CHECK(told(pool, victims.front()) == "waits for 2 slots: other jobs come first");
  const core::Explanation why = core::explain(pool.story.state(), victims.front());
  CHECK_THAT(why.evidence, Catch::VectorContains(std::string(
                               "tenant vision may have 4 slots now, 4 of them guaranteed; its jobs hold 4 slots")));
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
    "hail#13395: a job is preempted as often as is allowed and no oftener, and not at all once its user forbids it") {
  SharedPool pool({});
  pool.story.learn(core::TenantsConfigured{
      {.tenants = {{.name = "vision", .guarantee = 8}},
       .churn = core::ChurnLimit{.per_job = 2, .window = Duration::seconds(std::int64_t{24} * 3'600)}}});
  const auto jobs = run_jobs(pool, "vision", 2, 4);
  std::string reason;  // of the newest, while an urgent job waits or runs
  // An urgent job comes and goes; the jobs that gave way for it.
  const auto urgent_passes = [&] {
    core::JobSpec spec = SharedPool::spec("vision", 4);
    spec.priority = 10;
    const JobId urgent = pool.submit(spec);
    const auto victims = victims_of(pool.story.decide());
    reason = told(pool, jobs[1]);
    pool.settle_all();
    pool.end(urgent);
    pool.settle_all();
    pool.story.pass(Duration::seconds(61));
    return victims;
  };
  // Of equal jobs the newest gives way, each time the same one.
  CHECK(urgent_passes() == std::vector{jobs[1]});
  CHECK(urgent_passes() == std::vector{jobs[1]});
  // Then the other one gives way in its place, as often.
  CHECK(urgent_passes() == std::vector{jobs[0]});
  CHECK(urgent_passes() == std::vector{jobs[0]});
  CHECK(urgent_passes().empty());
  CHECK_THAT(reason, Catch::StartsWith("keeps its slots: it was preempted 2 times within the last 24 h"));
  core::JobSpec kept = pool.story.job(jobs[1]).spec;
  kept.preemptible = false;
  kept.priority = -10;  // any other would go on in its place
  pool.story.learn(core::JobChanged{jobs[1], kept});
  pool.story.pass(Duration::seconds(std::int64_t{24} * 3'600));
  CHECK(urgent_passes() == std::vector{jobs[0]});
  CHECK(urgent_passes() == std::vector{jobs[0]});
  CHECK(urgent_passes().empty());  // of the two none may give way any more
  for (const JobId job : jobs) CHECK(pool.story.job(job).size() == 4);
}

TEST_CASE("hail#13395: a job that has lost spot nodes goes on on others only, once its user asks for such") {
  SharedPool pool({{.name = "vision"}}, 2);
  pool.story.node(2);
  pool.story.node(2);
  const std::vector<NodeId> nodes = [&] {
    std::vector<NodeId> ids;
    for (const auto& [id, node] : pool.story.state().nodes) ids.push_back(id);
    return ids;
  }();
  for (const NodeId node : nodes) {
    pool.story.learn(core::NodeLabelled{node, {{"spot", node == nodes.back() ? "false" : "true"}}});
  }
  const auto node_of = [&](JobId job) {
    return pool.story.worker(pool.story.job(job).membership.workers.front()).node;
  };
  const JobId other = pool.submit([] {
    core::JobSpec spec = SharedPool::spec("vision", 2);
    spec.placement.selector = {{"spot", {"false"}}};
    return spec;
  }());
  pool.story.settle(other);
  const JobId job = pool.running("vision", 2);
  const NodeId first = node_of(job);
  REQUIRE(first != nodes.back());
  pool.story.learn(core::NodeLost{first, "reclaimed"});
  pool.settle_all();
  REQUIRE(pool.story.job(job).size() == 2);  // on the other spot node
  core::JobSpec kept = pool.story.job(job).spec;
  kept.placement.selector = {{"spot", {"false"}}};
  pool.story.learn(core::JobChanged{job, kept});
  pool.story.learn(core::NodeLost{node_of(job), "reclaimed"});
  pool.story.node(2);  // a further one of which it is not known
  pool.settle_all();
  CHECK(pool.story.job(job).size() == 0);
  pool.end(other);
  pool.settle_all();
  REQUIRE(pool.story.job(job).size() == 2);
  CHECK(node_of(job) == nodes.back());
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
