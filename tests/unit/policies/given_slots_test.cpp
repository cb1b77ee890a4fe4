// A job that gave up slots for another, which has still to have them when the plan gives the first one more again.
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "core/codec/codec.hpp"
#include "core/words/sentence.hpp"
#include "tests/support/victim_pool.hpp"

namespace tidepool::policies::cluster {
namespace {

const test::JobSketch kUpToFour{.min = 1, .max = 4, .cooldown = {}};
const core::EngineConfig kPlansEachSecond{.plan_every = Duration::seconds(1)};
const test::JobSketch kTwo{.min = 2, .max = 2};
const test::JobSketch kFour{.min = 4, .max = 4};

void change_size(test::Story& story, JobId id) {
  story.switched(id);
  story.steps(id, 2);
}

// But those that wait for their switch.
void let_leave(test::Story& story, JobId id) {
  for (const WorkerId worker : std::vector<WorkerId>(story.job(id).membership.workers)) {
    const core::Worker& seen = story.worker(worker);
    if (seen.phase == core::WorkerPhase::kLeaving && (seen.stop_due || seen.kill_at)) story.exit(worker);
  }
}

std::set<JobId> given_more(const core::Decision& decision) {
  std::set<JobId> jobs;
  for (const auto& planned : decision.plan) {
    if (const auto* start = std::get_if<core::StartIntent>(&planned.intent)) jobs.insert(start->job);
    if (const auto* grow = std::get_if<core::GrowIntent>(&planned.intent)) jobs.insert(grow->job);
  }
  return jobs;
}

// Two jobs gave up two slots each for a third, which waits for the slots of the slower one. Then that one is to give up
// one more, for the first, which comes before the claimant in the plan's order.
struct GivenUp {
  VictimPool pool{{8}, kPlansEachSecond};
  test::Story& story = pool.story;
  JobId gave = pool.running(kUpToFour, 4);
  JobId slow = pool.running(kUpToFour, 4);
  JobId claims = pool.submit(kFour, 4);

  GivenUp() {
    pool.said->sizes[gave] = pool.said->sizes[slow] = 2;
    story.decide();
    for (const JobId id : {gave, slow}) change_size(story, id);
    let_leave(story, gave);
    REQUIRE(story.state().slots_free() == 2);
    pool.said->sizes[gave] = 3;
    pool.said->sizes[slow] = 1;
    pool.said->order = {gave, claims, slow};
    story.pass(Duration::seconds(1));
  }
};

}  // namespace

TEST_CASE("a job takes no slots back that it gave up for a job that waits for more, and is told so") {
  GivenUp world;
  test::Story& story = world.story;
  CHECK(given_more(story.decide()).empty());
  CHECK(core::sentence(story.job(world.gave).verdict.reason) ==
        "would take 1 slot more; it released slots for " + world.claims.text() + ", which has not received them yet");
  let_leave(story, world.slow);
  CHECK(given_more(story.decide()) == std::set{world.claims});
  // It has them, so the first one grows as soon as there is room.
  CHECK(story.job(world.gave).size() == 2);
  change_size(story, world.slow);
  let_leave(story, world.slow);
  CHECK(given_more(story.decide()) == std::set{world.gave});
}

TEST_CASE("a job grows onto slots beyond those that the job lacks for which it gave some up") {
  GivenUp world;
  test::Story& story = world.story;
  story.node(3);
  CHECK(given_more(story.decide()) == std::set{world.claims, world.gave});
}

TEST_CASE("a job grows again at once when the job for which it gave up slots does not want them any more") {
  GivenUp world;
  test::Story& story = world.story;
  SECTION("it is cancelled") {
    story.learn(core::JobCancelRequested{world.claims});
  }
  SECTION("it is suspended") {
    story.learn(core::JobSuspendRequested{world.claims});
  }
  SECTION("the plan gives it nothing") {
    world.pool.said->sizes[world.claims] = 0;
  }
  CHECK(given_more(story.decide()) == std::set{world.gave});
}

TEST_CASE("a job that was preempted for another does not start on its slots before that one does") {
  VictimPool pool({8}, kPlansEachSecond);
  test::Story& story = pool.story;
  const JobId gave = pool.running(kTwo, 2);
  const JobId slow = pool.running(kUpToFour, 4);
  const JobId next = pool.running(kUpToFour, 2);
  const JobId claims = pool.submit(kFour, 4);
  pool.said->sizes[gave] = 0;
  pool.said->sizes[slow] = 2;
  pool.said->order = {claims, slow, next, gave};
  story.decide();
  REQUIRE(story.job(gave).state() == core::JobState::kSuspending);
  change_size(story, slow);
  let_leave(story, gave);
  REQUIRE(story.job(gave).state() == core::JobState::kPending);
  pool.said->sizes = {{gave, 2}, {slow, 1}, {next, 1}, {claims, 4}};
  pool.said->order = {gave, claims, slow, next};
  story.pass(Duration::seconds(1));
  CHECK(given_more(story.decide()).empty());
  let_leave(story, slow);
  CHECK(given_more(story.decide()) == std::set{claims});
  for (const JobId id : {slow, next}) {
    change_size(story, id);
    let_leave(story, id);
  }
  CHECK(given_more(story.decide()) == std::set{gave});
}

TEST_CASE("the jobs for which a job gave up slots are stored, and earlier versions stored none") {
  VictimPool pool({4});
  const JobId gave = pool.running(kUpToFour, 4);
  const JobId claims = pool.submit(kTwo, 2);
  pool.said->sizes[gave] = 2;
  const core::Decision decision = pool.story.decide();
  auto told = core::to_json(decision);
  REQUIRE(told["plan"][0]["intent"] == "shrink");
  const auto intent_of = [](const core::Decision& read) {
    return std::get<core::ShrinkIntent>(read.plan.at(0).intent);
  };
  CHECK(intent_of(core::decision_from_json(told).value()).for_jobs == std::vector{claims});
  REQUIRE(told["plan"][0].erase("for_jobs") == 1);
  CHECK(intent_of(core::decision_from_json(told).value()).for_jobs.empty());

  auto stored = core::to_json(pool.story.state());
  const auto read = core::state_from_json(stored);
  REQUIRE(read.ok());
  CHECK(core::digest_of(*read) == core::digest_of(pool.story.state()));
  REQUIRE(read->find_job(gave)->preemption.released_slots.size() == 1);
  CHECK(read->find_job(gave)->preemption.released_slots.front().for_job == claims);
  for (auto& job : stored["jobs"]) REQUIRE(job.erase("gave_slots") == 1);
  const auto earlier = core::state_from_json(stored);
  REQUIRE(earlier.ok());
  CHECK(earlier->find_job(gave)->preemption.released_slots.empty());
}

}  // namespace tidepool::policies::cluster
