// To nodes that have failed lately no job is moved without need, until their faults are forgotten.
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

TEST_CASE("the fault of a node is forgotten once its penalty is small, by the numbers that are in force") {
  Damped scene;
  const NodeId failed = scene.flapped(2, "a");
  scene.story.node(2, "b");
  scene.story.pass(kForgottenAfter - Duration::seconds(1));
  scene.story.learn(core::ClockAdvanced{});
  CHECK(scene.has_faults(failed));
  scene.story.pass(Duration::seconds(1));
  scene.story.learn(core::ClockAdvanced{});
  CHECK_FALSE(scene.has_faults(failed));

  const NodeId other = scene.flapped(2, "c");
  core::NodeDamping quick = core::kUsualDamping;
  quick.half_life = Duration::seconds(60);
  scene.story.learn(core::NodeDampingConfigured{quick});
  scene.story.pass(Duration::seconds(85));
  scene.story.learn(core::ClockAdvanced{});
  CHECK_FALSE(scene.has_faults(other));
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

}  // namespace tidepool::test
