// Workers of a job on as few nodes as its size allows.
#include "core/decide/gather.hpp"
#include "core/place/together.hpp"
#include "core/words/sentence.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

std::size_t nodes_used(const Story& story, JobId job) {
  return core::nodes_of(story.state(), story.job(job).membership.members).size();
}

TEST_CASE("a gang starts on one node where one has room for it, and not in the smaller holes") {
  Story story;
  story.node(1);
  story.node(2);
  story.node(4);
  const JobId job = story.running({.min = 3, .max = 3}, 3);
  CHECK(core::nodes_of(story.state(), story.job(job).membership.members) == core::WorkersOn{{NodeId(3), 3}});
}

TEST_CASE("a job that grows moves to a node that has room for all its workers") {
  Story story;
  story.node(2);
  const JobId job = story.running({.min = 1, .max = 4, .pack = true, .cooldown = Duration()}, 2);
  story.node(4);
  story.wish(job, 4);
  story.steps(job, 2);
  const core::Decision decision = story.decide();
  REQUIRE(names_of(decision) == "move");
  const auto& move = std::get<core::MoveIntent>(decision.plan[0].intent);
  CHECK(move.joining_workers.size() == 4);
  CHECK(move.leaving_workers.size() == 2);
  CHECK(test::says<core::reason::ExploreUp>(decision.plan[0].reason));
  story.settle(job);
  CHECK(story.job(job).size() == 4);
  CHECK(core::nodes_of(story.state(), story.job(job).membership.members) == core::WorkersOn{{NodeId(2), 4}});
}

TEST_CASE("a job that moves together for a size of its user's is told nothing of what its policy weighs") {
  for (const bool pinned : {false, true}) {
    INFO(pinned);
    Story story;
    story.node(2);
    const JobId job = story.running({.min = 1, .max = 4, .pack = true, .cooldown = Duration()}, 2);
    story.node(4);
    if (pinned) {
      story.learn(core::JobResizeRequested{job, 4});
    } else {
      story.wish(job, 4);
    }
    story.steps(job, 2);
    REQUIRE(names_of(story.decide()) == "move");
    CHECK(story.job(job).verdict.chosen.has_value() != pinned);
  }
}

TEST_CASE("workers that are apart move together once a node has room for them") {
  Story story;
  story.node(1);
  story.node(1);
  const JobId job = story.running({.min = 2, .max = 2, .pack = true, .cooldown = Duration()}, 2);
  REQUIRE(nodes_used(story, job) == 2);
  story.node(2);
  story.steps(job, 2);
  const core::Decision decision = story.decide();
  REQUIRE(names_of(decision) == "move");
  CHECK(test::says<core::reason::MovedTogether>(decision.plan[0].reason));
  CHECK(core::sentence(decision.plan[0].reason)
            .starts_with("moving 2 workers so that the job is on 1 node and not on 2; the move costs "));
  story.settle(job);
  CHECK(nodes_used(story, job) == 1);
  CHECK(names_of(story.decide()).empty());
}

TEST_CASE("workers that are apart stay so if moving them costs more than they lose") {
  Story story;
  story.node(1);
  story.node(1);
  const JobId job = story.running({.min = 1, .max = 2, .cooldown = Duration()}, 1);
  story.wish(job, 2);
  story.steps(job, 2);
  REQUIRE(names_of(story.decide()) == "grow");
  story.ready(story.job(job).membership.workers.back());
  REQUIRE(names_of(story.decide()) == "switch");
  story.switched(job, 400'000);  // a change of its members takes it so many milliseconds
  story.steps(job, 2);
  story.node(2);
  CHECK(names_of(story.decide()).empty());
  CHECK(nodes_used(story, job) == 2);
}

TEST_CASE("a job leaves a node on which another one has room for all its workers then") {
  Story story;
  story.node(4);
  const JobId large = story.running({.min = 1, .max = 4, .pack = true, .cooldown = Duration()}, 2);
  const JobId small = story.running({.min = 2, .max = 2, .cooldown = Duration()}, 2);
  story.node(4);
  const JobId other = story.running({.min = 2, .max = 2, .cooldown = Duration()}, 2);
  REQUIRE(core::nodes_of(story.state(), story.job(other).membership.members) == core::WorkersOn{{NodeId(2), 2}});
  story.wish(large, 4);
  story.steps(large, 2);
  const core::Decision decision = story.decide();
  REQUIRE(names_of(decision) == "move");
  CHECK(core::job_of(decision.plan[0].intent) == small);
  CHECK(core::sentence(decision.plan[0].reason)
            .starts_with("moving away from " + NodeId(1).text() + ", so that " + large.text() +
                         " has room for 4 workers together; the move costs "));
  CHECK(test::says<core::reason::NoRoomTogether>(story.job(large).verdict.reason));
  story.settle(small);
  story.settle(large);
  CHECK(core::nodes_of(story.state(), story.job(large).membership.members) == core::WorkersOn{{NodeId(1), 4}});
  CHECK(core::nodes_of(story.state(), story.job(small).membership.members) == core::WorkersOn{{NodeId(2), 2}});
}

TEST_CASE("a worker that took the place of a slow one is not moved back to its node") {
  Story story({.rebalance_stragglers = false});
  story.node(2);
  const JobId job = story.running({.min = 2, .max = 2, .pack = true, .cooldown = Duration()}, 2);
  story.node(1);
  story.steps(job, 60, {50'000, 120'000});
  REQUIRE(names_of(story.decide()) == "replace");
  story.settle(job);
  REQUIRE(nodes_used(story, job) == 2);
  story.steps(job, 2);
  CHECK(names_of(story.decide()).empty());
}

TEST_CASE("a job that gives up workers keeps those that are together") {
  Story story;
  story.node(1);
  const JobId job = story.running({.min = 1, .max = 4, .cooldown = Duration()}, 1);
  story.node(3);
  story.wish(job, 4);
  story.steps(job, 2);
  story.settle(job);
  REQUIRE(nodes_used(story, job) == 2);
  story.wish(job, 3);
  story.steps(job, 2);
  const core::Decision decision = story.decide();
  REQUIRE(names_of(decision) == "shrink switch");
  CHECK(story.job(job).membership.members.size() == 3);
}

TEST_CASE("of nodes with as many of its workers, a job that shrinks leaves that of the highest rank, and all of it") {
  Story story;
  const NodeId first = story.node(2);
  const JobId job = story.running({.min = 1, .max = 6, .cooldown = Duration()}, 2);
  for (const int size : {4, 6}) {
    story.node(2);
    story.wish(job, size);
    story.steps(job, 2);
    story.settle(job);
  }
  const std::vector<WorkerId> before = story.job(job).membership.members;
  REQUIRE(nodes_used(story, job) == 3);
  story.wish(job, 3);
  story.steps(job, 2);
  const core::Decision decision = story.decide();
  REQUIRE(names_of(decision) == "shrink switch");
  CHECK(story.job(job).phase.transition()->leaving_workers == std::vector<WorkerId>(before.begin() + 3, before.end()));
  CHECK(story.worker(before.front()).node == first);
}

}  // namespace
}  // namespace tidepool::test
