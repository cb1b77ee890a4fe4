// A lost node that does not come back leaves the state, unless something still counts on it.
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

TEST_CASE("a lost node is removed, and an agent of its name joins as a new node") {
  Story story;
  const NodeId node = story.node(2, "old");
  CHECK(story.refuses(core::NodeRemoved{node}) ==
        "old is not lost; drain it, stop its agent, and ask again when the node is lost");
  story.learn(core::NodeLost{node, "no heartbeat"});
  story.learn(core::NodeRemoved{node});
  CHECK(story.state().nodes.empty());
  CHECK(story.last("node.removed").node == node);
  CHECK(story.last("node.removed").data["name"] == "old");
  CHECK(story.refuses(core::NodeRemoved{node}) == "there is no node-1");
  const NodeId anew = story.node(2, "old");
  CHECK(anew == NodeId(2));
  CHECK(story.state().nodes.size() == 1);
}

TEST_CASE("drains and faults of a removed node end with it") {
  Story story;
  story.learn(core::NodeDampingConfigured{{.half_life = Duration::seconds(600), .suppress = 1, .reuse = 0.75}});
  const NodeId drained = story.node(1, "drained");
  const NodeId flapping = story.node(1, "flapping");
  story.learn(core::NodeDrainRequested{drained, Duration::seconds(60), "old"});
  story.learn(core::NodeLost{drained, "no heartbeat"});
  story.learn(core::NodeLost{flapping, "no heartbeat"});
  REQUIRE(story.state().find_node(flapping)->is_unsteady());
  story.learn(core::NodeRemoved{drained});
  story.learn(core::NodeRemoved{flapping});
  story.pass(Duration::seconds(7200));
  CHECK(names_of(story.decide()).empty());
  CHECK(story.state().nodes.empty());
}

TEST_CASE("what a removed node ran is dead, and its job waits no more for it") {
  Story story;
  const NodeId node = story.node(2, "far");
  const JobId job = story.running({.min = 1, .max = 2, .cooldown = {}}, 2);
  story.learn(core::NodeLost{node, "no heartbeat"});
  story.decide();
  REQUIRE(story.state().workers.size() == 2);
  story.learn(core::NodeRemoved{node});
  CHECK(story.state().workers.empty());
  CHECK(story.job(job).state() == core::JobState::kPending);
  story.node(2, "near");
  CHECK(names_of(story.decide()) == "start");
}

TEST_CASE("a node is kept while a job that runs nowhere would go on from a saved state there") {
  Story story;
  const NodeId node = story.node(1, "kept");
  const JobId job = story.submit({.min = 1, .max = 1, .grace = Duration::seconds(5)});
  story.settle(job);
  story.steps(job, 100);
  story.park(job);
  story.learn(core::NodeLost{node, "no heartbeat"});
  CHECK(story.refuses(core::NodeRemoved{node}) ==
        "job-1 would continue from its saved state on kept; start the agent there again, or cancel the job");
  story.learn(core::JobCancelRequested{job});
  story.decide();
  story.learn(core::NodeRemoved{node});
  CHECK(story.state().nodes.empty());
}

}  // namespace
}  // namespace tidepool::test
