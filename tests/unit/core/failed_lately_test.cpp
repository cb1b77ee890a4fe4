// Nodes that have failed lately get workers where no others have room, until their faults are forgotten.
#include <catch2/catch.hpp>

#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

// 10 min * log2(1 / 0.375) = 849.02 s after one fault.
constexpr Duration kForgottenAfter = Duration::seconds(850);

struct Damped {
  Story story;

  Damped() { story.learn(core::NodeDampingConfigured{core::kUsualDamping}); }

  // Lost once, and back at once.
  NodeId flapped(int slots, const std::string& name) {
    const NodeId node = story.node(slots, name);
    story.learn(core::NodeLost{node, "no heartbeat"});
    story.node(slots, name);
    return node;
  }
  [[nodiscard]] bool has_faults(NodeId node) const { return story.state().find_node(node)->faults.has_value(); }
};

}  // namespace

TEST_CASE("a gang starts on a node that was lost a moment ago only where it fits on no other") {
  Damped scene;
  const NodeId failed = scene.flapped(2, "a");
  const NodeId steady = scene.story.node(2, "b");
  const JobId one = scene.story.submit({.min = 1, .max = 1});
  REQUIRE(names_of(scene.story.decide()) == "start");
  CHECK(scene.story.nodes_of(one) == std::vector<NodeId>{steady});
  const JobId two = scene.story.submit({.min = 2, .max = 2});
  REQUIRE(names_of(scene.story.decide()) == "start");
  CHECK(scene.story.nodes_of(two) == std::vector<NodeId>{failed, failed});
}

TEST_CASE("the fault of a node is forgotten once its penalty is small, and the node is as any other") {
  Damped scene;
  const NodeId failed = scene.flapped(2, "a");
  scene.story.node(2, "b");
  scene.story.pass(kForgottenAfter - Duration::seconds(1));
  scene.story.learn(core::ClockAdvanced{});
  CHECK(scene.has_faults(failed));
  scene.story.pass(Duration::seconds(1));
  scene.story.learn(core::ClockAdvanced{});
  CHECK_FALSE(scene.has_faults(failed));
  const JobId job = scene.story.submit({.min = 1, .max = 1});
  scene.story.decide();
  CHECK(scene.story.nodes_of(job) == std::vector<NodeId>{failed});
}

TEST_CASE("a job that leaves a drained node does not come to one that was lost a moment ago") {
  Damped scene;
  const NodeId old = scene.story.node(2, "old");
  const JobId job = scene.story.running({.min = 1, .max = 2}, 2);
  scene.flapped(2, "a");
  const NodeId steady = scene.story.node(2, "b");
  scene.story.learn(core::NodeDrainRequested{old, Duration::seconds(600), "a new disk"});
  REQUIRE(names_of(scene.story.decide()) == "replace");
  scene.story.settle(job);
  CHECK(scene.story.nodes_of(job) == std::vector<NodeId>{steady, steady});
}

TEST_CASE("workers that are apart move to no node that was lost a moment ago, and do once that is forgotten") {
  Damped scene;
  Story& story = scene.story;
  story.node(1);
  story.node(1);
  const JobId job = story.running({.min = 2, .max = 2, .pack = true, .cooldown = Duration()}, 2);
  const NodeId failed = scene.flapped(2, "a");
  story.steps(job, 2);
  CHECK(names_of(story.decide()).empty());
  story.pass(kForgottenAfter);
  story.learn(core::ClockAdvanced{});
  story.steps(job, 2);
  CHECK(names_of(story.decide()) == "move");
  story.settle(job);
  CHECK(story.nodes_of(job) == std::vector<NodeId>{failed, failed});
}

TEST_CASE("a job that is on a node grows there, whether or not the node was lost a moment ago") {
  Damped scene;
  Story& story = scene.story;
  const NodeId failed = story.node(4, "a");
  const JobId job = story.running({.min = 1, .max = 4, .cooldown = {}}, 2);
  story.node(4, "b");
  story.learn(core::NodeLost{failed, "no heartbeat"});
  story.node(4, "a", story.job(job).membership.workers);
  REQUIRE(scene.has_faults(failed));
  story.settle(job);
  story.wish(job, 4);
  story.steps(job, 2);
  REQUIRE(names_of(story.decide()) == "grow");
  story.settle(job);
  CHECK(story.nodes_of(job) == std::vector<NodeId>(4, failed));
}

}  // namespace tidepool::test
