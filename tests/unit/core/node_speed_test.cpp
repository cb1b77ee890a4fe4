// What a node's own probe tells: how fast it is beside what may be expected, and whose fault a slow worker is.
#include "core/state/measured/node_speed.hpp"
#include "core/explain/explain.hpp"
#include "core/state/measured/straggler_diagnosis.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

using core::DeviceSpeed;
using core::Follows;

void probed(Story& story, NodeId node, std::vector<DeviceSpeed> devices) {
  story.learn(core::NodeProbed{node, std::move(devices)});
}

double speed(const Story& story, NodeId node) {
  return core::speed_of(story.state(), story.state().nodes.at(node)).value_or(0);
}

TEST_CASE("A node is compared with its own best and with the median of the other nodes of its kind") {
  Story story;
  const NodeId a = story.node(1);
  CHECK_FALSE(core::speed_of(story.state(), story.state().nodes.at(a)));
  probed(story, a, {{"cpu", 40, 10}});
  CHECK(speed(story, a) == 1);  // there is nothing to compare with
  probed(story, a, {{"cpu", 20, 10}});
  CHECK(speed(story, a) == Approx(0.5));
  CHECK(story.last("node.probed").data["slow"] == true);
  probed(story, a, {{"cpu", 40, 6}});
  CHECK(speed(story, a) == Approx(0.6));  // it copies too slowly
  probed(story, a, {{"cpu", 40, 10}});
  const NodeId b = story.node(1);
  probed(story, b, {{"cpu", 10, 10}});
  CHECK(speed(story, b) == Approx(0.25));
  CHECK(speed(story, a) == 1);
  story.learn(core::NodeLost{a, "gone"});
  CHECK(speed(story, b) == 1);  // a node that is away is no measure
}

TEST_CASE("The slowest device of a node counts, and other devices begin a new record") {
  Story story;
  const NodeId node = story.node(2);
  probed(story, node, {{"GPU-a", 100, 10}, {"GPU-b", 50, 10}});
  probed(story, node, {{"GPU-a", 100, 10}, {"GPU-b", 100, 10}});
  CHECK(speed(story, node) == 1);
  probed(story, node, {{"GPU-a", 100, 10}, {"GPU-b", 30, 10}});
  CHECK(speed(story, node) == Approx(0.3));
  probed(story, node, {{"GPU-c", 20, 10}});
  CHECK(speed(story, node) == 1);
}

TEST_CASE("A probe without figures, or of a node that never joined, is refused") {
  Story story;
  const NodeId node = story.node(1);
  CHECK(story.refuses(core::NodeProbed{node, {}}).find("figures") != std::string::npos);
  CHECK(story.refuses(core::NodeProbed{node, {{"cpu", 0, 1}}}).find("figures") != std::string::npos);
  CHECK(story.refuses(core::NodeProbed{NodeId(9), {{"cpu", 1, 1}}}).find("node-9") != std::string::npos);
}

// One worker each on two nodes; the second turns slow.
struct SplitJob {
  Story story;
  NodeId healthy, slow;
  JobId job;

  SplitJob() : story(core::EngineConfig{.rebalance_stragglers = false}) {
    healthy = story.node(1);
    slow = story.node(1);
    job = story.running({.min = 2, .max = 2, .cooldown = {}}, 2);
    story.steps(job, 30, {50'000, 100'000});
  }
  core::Diagnosis diagnosis() const { return core::diagnose(story.state(), story.worker(WorkerId(2))); }
};

TEST_CASE("Where worker and node cannot be told apart the node is measured, once for as long as it lasts") {
  SplitJob split;
  Story& story = split.story;
  CHECK(split.diagnosis().follows == Follows::kUnknown);
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "probe_node");
  CHECK(std::get<core::ProbeIntent>(decision.plan[0].intent).node == split.slow);
  story.steps(split.job, 10, {50'000, 100'000});
  CHECK(names_of(story.decide()).empty());
}

TEST_CASE("A node whose agent was away when it was to be measured is asked again once that is back, until it answers") {
  SplitJob split;
  Story& story = split.story;
  REQUIRE(names_of(story.decide()) == "probe_node");
  const auto comes_back = [&] { REQUIRE(story.node(1, "n2", {WorkerId(2)}) == split.slow); };
  comes_back();
  CHECK(names_of(story.decide()) == "probe_node");
  probed(story, split.healthy, {{"cpu", 40, 10}});
  probed(story, split.slow, {{"cpu", 39, 10}});
  comes_back();
  CHECK(names_of(story.decide()).empty());
}

TEST_CASE("A node that is slow by its own probe is the cause, and the sentence says how to keep workers away") {
  SplitJob split;
  Story& story = split.story;
  probed(story, split.healthy, {{"cpu", 40, 10}});
  probed(story, split.slow, {{"cpu", 18, 10}});
  CHECK(split.diagnosis().follows == Follows::kNode);
  CHECK(split.diagnosis().node_speed == Approx(0.45));
  CHECK(names_of(story.decide()).empty());
  const std::string said = core::explain(story.state(), split.job).summary;
  CHECK(said.find("its node does 45 % of what may be expected of it; schedctl cordon node-2") != std::string::npos);
}

TEST_CASE("A node that does what may be expected of it leaves the worker as the cause") {
  SplitJob split;
  probed(split.story, split.healthy, {{"cpu", 40, 10}});
  probed(split.story, split.slow, {{"cpu", 39, 10}});
  CHECK(split.diagnosis().follows == Follows::kWorker);
  CHECK(names_of(split.story.decide()).empty());
}

}  // namespace
}  // namespace tidepool::test
