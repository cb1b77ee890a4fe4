// Nodes whose machines are to be reclaimed: drained like others, for a notice that may be withdrawn.
#include <catch2/catch.hpp>

#include "core/words/sentence.hpp"
#include "core/words/unblock.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

void notice(Story& story, NodeId node, Duration within) {
  story.learn(core::NodeReclaimNoticed{node, within});
}

const core::NodeDrain& drain_of(const Story& story, NodeId node) {
  const auto& drain = story.state().find_node(node)->drain;
  REQUIRE(drain);
  return *drain;
}

}  // namespace

TEST_CASE("a job leaves a node that is to be reclaimed, and says why") {
  Story story;
  const NodeId spot = story.node(2);
  const JobId job = story.running({.min = 2, .max = 2}, 2);
  const NodeId other = story.node(2);
  notice(story, spot, Duration::seconds(120));
  CHECK(story.last("node.reclaim_notice").data["seconds"] == 120.0);
  CHECK(story.last("node.reclaim_notice").data["workers"] == 2);
  CHECK(story.count("node.draining") == 0);
  const core::Decision decision = story.decide();
  REQUIRE(names_of(decision) == "replace");
  CHECK(core::sentence(decision.plan.front().reason) ==
        "moving w-1 to node-2: node-1 will be reclaimed by its provider in 2 min");
  story.settle(job);
  CHECK(story.count("node.drained") == 1);
  CHECK(story.job(job).recovery.restarts == 0);
  for (const WorkerId id : story.job(job).membership.workers) CHECK(story.worker(id).node == other);
}

TEST_CASE("a job that waits for a node which is to be reclaimed is not told to undrain it") {
  Story story;
  const NodeId spot = story.node(2);
  notice(story, spot, Duration::seconds(120));
  const JobId job = story.submit({.min = 1, .max = 1});
  CHECK(names_of(story.decide()).empty());
  const core::Reason waits = story.job(job).verdict.reason;
  REQUIRE(says<core::reason::NodesDrain>(waits));
  CHECK(core::sentence(waits) ==
        "needs 1 slot, and without the nodes that are to be reclaimed, such as node-1, there are 0");
  CHECK(core::unblocks_of(waits, job) == std::vector<std::string>{"add a node with 1 slot"});
}

TEST_CASE("a notice that is withdrawn ends the drain that it caused, and the job starts") {
  Story story;
  const NodeId spot = story.node(1);
  notice(story, spot, Duration::seconds(120));
  const JobId job = story.submit({.min = 1, .max = 1});
  CHECK(names_of(story.decide()).empty());
  story.learn(core::NodeReclaimNoticed{spot, {}});
  CHECK(story.count("node.reclaim_withdrawn") == 1);
  CHECK(story.count("node.undrained") == 1);
  CHECK(names_of(story.decide()) == "start");
  CHECK(story.job(job).membership.workers.size() == 1);
  story.learn(core::NodeReclaimNoticed{spot, {}});
  CHECK(story.count("node.reclaim_withdrawn") == 1);
}

TEST_CASE("an operator's drain goes on when a notice is withdrawn, with its own deadline and reason") {
  for (const bool notice_first : {false, true}) {
    Story story;
    const NodeId node = story.node(1);
    const Instant asked = story.now() + Duration::seconds(600);
    if (notice_first) notice(story, node, Duration::seconds(60));
    story.learn(core::NodeDrainRequested{node, Duration::seconds(600), "a new disk"});
    if (!notice_first) notice(story, node, Duration::seconds(60));
    CHECK(drain_of(story, node).deadline == story.now() + Duration::seconds(60));
    CHECK(drain_of(story, node).reason == "a new disk");
    const auto read = core::state_from_json(core::to_json(story.state()));
    REQUIRE(read.ok());
    CHECK(read->find_node(node)->drain->asked == asked);
    story.learn(core::NodeReclaimNoticed{node, {}});
    CHECK(drain_of(story, node).deadline == asked);
    CHECK_FALSE(drain_of(story, node).reclaim);
    CHECK(story.count("node.undrained") == 0);
    story.learn(core::NodeReclaimNoticed{node, {}});  // it ends no operator's drain
    CHECK(drain_of(story, node).deadline == asked);
  }
}

TEST_CASE("a notice that is told again is no news, and only brings the end forward") {
  Story story;
  const NodeId node = story.node(1, "a");
  notice(story, node, Duration::seconds(120));
  const Instant end = story.now() + Duration::seconds(120);
  story.pass(Duration::seconds(30));
  story.learn(core::NodeLost{node, "no heartbeat"});
  story.node(1, "a");
  CHECK(drain_of(story, node).reclaim->at == end);
  notice(story, node, Duration::seconds(95));
  notice(story, node, Duration::millis(89'500));
  CHECK(drain_of(story, node).deadline == end);
  CHECK(story.count("node.reclaim_notice") == 1);
  notice(story, node, Duration::seconds(20));
  CHECK(drain_of(story, node).deadline == story.now() + Duration::seconds(20));
  CHECK(story.count("node.reclaim_notice") == 2);
  CHECK(story.count("node.drained") == 1);
  story.learn(core::NodeDrainCancelled{node});  // an operator knows better
  CHECK_FALSE(story.state().find_node(node)->drain);
  CHECK(story.refuses(core::NodeReclaimNoticed{NodeId(9), Duration::seconds(1)}) == "there is no node-9");
  CHECK(story.refuses(core::NodeReclaimNoticed{node, Duration::seconds(-1)}) == "a node is reclaimed in the future");
}

TEST_CASE("a drain of a daemon that knew no notices can be read") {
  Story story;
  const NodeId node = story.node(2);
  story.learn(core::NodeDrainRequested{node, Duration::seconds(600), "a new disk"});
  auto before = core::to_json(story.state());
  for (const char* later : {"reclaim", "asked", "maintenance"}) {
    REQUIRE(before.at("nodes").at(0).at("drain").erase(later) == 1);
  }
  const auto read = core::state_from_json(before);
  REQUIRE(read.ok());
  CHECK(read->find_node(node)->drain->reason == "a new disk");
}

}  // namespace tidepool::test
