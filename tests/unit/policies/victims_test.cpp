// Which running jobs are preempted for a job that the plan puts before them: no more than it needs (volcano#1256).
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/calendar.hpp"
#include "core/explain/explain.hpp"
#include "core/words/sentence.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/victim_pool.hpp"

namespace tidepool::policies::cluster {

TEST_CASE("a small victim is spared when a larger one that is needed anyway makes room by itself") {
  VictimPool pool({5});
  const JobId large = pool.running({.min = 4, .max = 4}, 4);
  const JobId small = pool.running({.min = 1, .max = 1}, 1);
  const JobId claimant = pool.submit({.min = 4, .max = 4}, 4);
  CHECK(pool.preempted_for(claimant, {large, small}) == std::vector{large});
}

TEST_CASE("of victims that are left over the one that stands highest in the plan is spared") {
  VictimPool pool({6});
  const JobId large = pool.running({.min = 4, .max = 4}, 4);
  const JobId better = pool.running({.min = 1, .max = 1}, 1);
  const JobId worse = pool.running({.min = 1, .max = 1}, 1);
  const JobId claimant = pool.submit({.min = 5, .max = 5}, 5);
  CHECK(pool.preempted_for(claimant, {large, better, worse}) == std::vector{worse, large});
}

TEST_CASE("a victim whose slots cannot make room for a gang is spared") {
  VictimPool pool({4, 4});
  const JobId whole = pool.running({.min = 4, .max = 4}, 4);
  const JobId half = pool.running({.min = 2, .max = 2}, 2);
  const JobId other_half = pool.running({.min = 2, .max = 2}, 2);
  // One worker of four slots: the node of `whole` is enough, half of the other node is not.
  const JobId claimant = pool.submit({.min = 1, .max = 1, .gpus = 4}, 4);
  CHECK(pool.preempted_for(claimant, {other_half, whole, half}) == std::vector{whole});
}

TEST_CASE("a job whose only worker is stopped anyway is no victim beside another one") {
  VictimPool pool({1, 1});
  const JobId stuck = pool.running({.min = 1, .max = 1}, 1);
  const JobId other = pool.running({.min = 1, .max = 1}, 1);
  const JobId claimant = pool.submit({.min = 2, .max = 2}, 2);
  const WorkerId worker = pool.story.job(stuck).membership.members.front();
  pool.story.learn(core::WorkerStuck{worker, 12, "computing", Duration::seconds(90)});
  CHECK(pool.preempted_for(claimant, {other, stuck}) == std::vector<JobId>{other});
}

TEST_CASE("of jobs alike the one that would lose what it has done is spared, but not for one of a lower priority") {
  VictimPool pool({6});
  // None of them has saved anything, and the checkpoints of the first and the last fail.
  const auto runs = [&](int priority, bool saves) {
    const JobId id = pool.running({.min = 2, .max = 2, .priority = priority}, 2);
    pool.story.steps(id, 7'000);  // 700 s
    const core::Membership& now = pool.story.job(id).membership;
    if (!saves) pool.story.learn(core::CheckpointFailed{id, now.members.front(), now.generation, 7'000, "disk full"});
    return id;
  };
  const JobId loses = runs(5, false);
  const JobId keeps = runs(5, true);
  const JobId lower = runs(4, false);
  const JobId claimant = pool.submit({.min = 4, .max = 4, .priority = 9}, 4);
  CHECK(pool.preempted_for(claimant, {keeps, loses, lower}) == std::vector{lower, keeps});
}

TEST_CASE("a job on a node that takes no workers is no victim beside others") {
  VictimPool pool({2, 2});
  const JobId one = pool.running({.min = 2, .max = 2}, 2);
  const JobId other = pool.running({.min = 2, .max = 2}, 2);
  const core::Worker& worker = *pool.story.state().find_worker(pool.story.job(other).membership.members.front());
  pool.story.learn(core::NodeCordonChanged{worker.node, true});
  const JobId claimant = pool.submit({.min = 2, .max = 2}, 2);
  CHECK(pool.preempted_for(claimant, {one, other}) == std::vector{one});
}

TEST_CASE("nothing is preempted for a claim that all victims together cannot meet") {
  VictimPool pool({4});
  const JobId small = pool.running({.min = 1, .max = 1}, 1);
  const JobId fixed = pool.running({.min = 3, .max = 3}, 3);
  pool.story.learn(core::JobResizeRequested{fixed, 3});
  pool.story.decide();
  const JobId claimant = pool.submit({.min = 4, .max = 4}, 4);
  CHECK(pool.preempted_for(claimant, {small}).empty());
}

TEST_CASE("a job that cools down is preempted for no other before that is over, and the other is told of it") {
  VictimPool pool({4});
  const JobId runs = pool.running({.min = 1, .max = 2, .cooldown = Duration::seconds(60)}, 2);
  pool.said->sizes[runs] = 1;
  const JobId held = pool.submit({.min = 1, .max = 1}, 0);  // so that a new plan is due
  pool.story.settle(runs);
  REQUIRE(pool.story.job(runs).size() == 1);
  const JobId waits = pool.submit({.min = 4, .max = 4}, 4);
  REQUIRE(pool.preempted_for(waits, {held, runs}).empty());
  const std::vector<std::string> lines = core::explain(pool.story.state(), waits).unblocks();
  CHECK(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.ends_with("keeps its slots until then (elastic.cooldown)");
  }));
  const Instant until = *pool.story.job(runs).last_resize_at + Duration::seconds(60);
  pool.story.pass(until - pool.story.now());
  CHECK(pool.preempted_for(waits, {held, runs}) == std::vector{runs});
}

TEST_CASE("a job that waits for a victim's minimum run time is told when that ends") {
  VictimPool pool({4});
  const JobId runs = pool.running({.min = 4, .max = 4, .min_runtime = Duration::seconds(600)}, 4);
  const JobId waits = pool.submit({.min = 4, .max = 4}, 4);
  REQUIRE(pool.preempted_for(waits, {runs}).empty());
  const Instant until = *pool.story.job(runs).last_start_at + Duration::seconds(600);
  const std::string line = "wait until " + utc_clock_text((until.count_us() + 999'999) / 1'000'000) + ": " +
                           runs.text() + " keeps its slots until then (elastic.min_runtime)";
  CHECK(core::explain(pool.story.state(), waits).unblocks().front() == line);
  pool.story.pass(until - pool.story.now());
  CHECK(pool.preempted_for(waits, {runs}) == std::vector{runs});
}

TEST_CASE("a job behind one that waits for its victims is told how many of the free slots are kept for that one") {
  VictimPool pool({6});
  const JobId runs = pool.running({.min = 4, .max = 4}, 4);
  const JobId claimant = pool.submit({.min = 4, .max = 4}, 4);
  REQUIRE(pool.preempted_for(claimant, {runs}) == std::vector{runs});
  const JobId behind = pool.submit({.min = 2, .max = 2}, 2);
  pool.story.decide();
  const core::Explanation told = core::explain(pool.story.state(), behind);
  CHECK(told.summary == "waits for 2 slots; 2 are free, but scattered or kept for others");
  REQUIRE_FALSE(told.evidence.empty());
  CHECK(told.evidence.front() == "the 2 free slots are kept for " + claimant.text() + " (before it in line)");
  // What is stored, and told once the wait is over, does not say that none is free either.
  CHECK(core::sentence(pool.story.job(behind).verdict.reason) == told.summary);
  // Where fewer are free than it needs, these are not what it waits for.
  const JobId wide = pool.submit({.min = 3, .max = 3}, 3);
  pool.story.decide();
  for (const std::string& line : core::explain(pool.story.state(), wide).evidence) {
    CHECK(line.find("free slot") == std::string::npos);
  }
}

TEST_CASE("slots that a decision gives to another job are not told to be free for one that waits") {
  test::Story story;
  story.node(4);
  const JobId starts = story.submit({.min = 3, .max = 3});
  const JobId waits = story.submit({.min = 4, .max = 4});
  REQUIRE(test::names_of(story.decide()) == "start");
  REQUIRE(story.job(starts).membership.workers.size() == 3);
  const std::string told = core::sentence(story.job(waits).verdict.reason);
  INFO(told);
  CHECK(told.find("1 is free") != std::string::npos);
}

TEST_CASE("a job for which others leave already is told to wait for them, and nothing else") {
  VictimPool pool({4});
  const JobId runs = pool.running({.min = 4, .max = 4, .grace = Duration::seconds(30)}, 4);
  const JobId waits = pool.submit({.min = 4, .max = 4}, 4);
  REQUIRE(pool.preempted_for(waits, {runs}) == std::vector{runs});
  const Instant by = pool.story.now() + Duration::seconds(30);
  CHECK(core::explain(pool.story.state(), waits).unblocks() ==
        std::vector{"wait until " + utc_clock_text(by.count_us() / 1'000'000) + ": " + runs.text() +
                    " releases 4 slots for it"});
}

TEST_CASE("a job that waits beside one whose size may not change yet is told when it may") {
  test::Story story;
  story.engine() = core::Engine(test::parts_of("tidal"));
  story.node(4);
  test::JobSketch sketch{.min = 4, .max = 4, .priority = 1, .min_runtime = Duration::seconds(600)};
  const JobId runs = story.submit(sketch);
  story.settle(runs);
  REQUIRE(story.job(runs).size() == 4);
  const auto told = [&](JobId job) {
    const std::vector<std::string> lines = core::explain(story.state(), job).unblocks();
    return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
      return line.starts_with("wait until ") && line.ends_with("keeps its slots until then (elastic.min_runtime)");
    });
  };
  sketch.priority = 10;
  const JobId before = story.submit(sketch);
  sketch.priority = 0;
  const JobId behind = story.submit(sketch);
  story.decide();
  CHECK(told(before));
  CHECK_FALSE(told(behind));  // a job of lower priority has nothing to hope for from it
}

}  // namespace tidepool::policies::cluster
