// Nodes that are being drained, and the jobs that leave them.
#include <catch2/catch.hpp>

#include "core/explain/current_reason.hpp"
#include "core/words/sentence.hpp"
#include "core/words/unblock.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

void drain(Story& story, NodeId node, Duration within = Duration::seconds(600)) {
  story.learn(core::NodeDrainRequested{node, within, "a new disk"});
}

// Two workers on a node of their own.
struct OnOldNode {
  Story story;
  NodeId old;
  JobId job;

  explicit OnOldNode(JobSketch sketch = {.min = 1, .max = 2}, int size = 2) {
    old = story.node(size);
    job = story.running(sketch, size);
  }
};

}  // namespace

TEST_CASE("a node that is being drained gets no new workers until that is cancelled") {
  Story story;
  const NodeId node = story.node(2);
  drain(story, node);
  CHECK(story.state().find_node(node)->is_drained());
  CHECK(story.count("node.drained") == 1);
  const JobId job = story.submit({.min = 1, .max = 1});
  CHECK(names_of(story.decide()).empty());
  const core::Reason waits = story.job(job).verdict.reason;
  REQUIRE(says<core::reason::NodesDrain>(waits));
  CHECK(core::sentence(waits) ==
        "needs 1 slot, and without the nodes that are being drained, such as node-1, there are 0");
  CHECK(core::unblocks_of(waits, job) == std::vector<std::string>{"schedctl undrain node-1", "add a node with 1 slot"});
  story.learn(core::NodeDrainCancelled{node});
  CHECK(names_of(story.decide()) == "start");
}

TEST_CASE("a running job leaves a drained node worker by worker while others have room") {
  OnOldNode scene;
  const NodeId fresh = scene.story.node(2);
  drain(scene.story, scene.old);
  const core::Decision first = scene.story.decide();
  REQUIRE(names_of(first) == "replace");
  CHECK(core::sentence(first.plan.front().reason) ==
        "moving w-1 to node-2: node-1 is being drained and must be empty in 10 min");
  scene.story.settle(scene.job);
  CHECK(scene.story.nodes_of(scene.job) == std::vector<NodeId>{fresh, fresh});
  CHECK(scene.story.job(scene.job).recovery.restarts == 0);
  CHECK(scene.story.job(scene.job).recovery.replacements == 0);  // no straggler was among them
  CHECK(scene.story.state().find_node(scene.old)->is_drained());
  CHECK(scene.story.count("node.drained") == 1);
}

TEST_CASE("a job that may be smaller shrinks away from a drained node, within its cooldown, too") {
  Story story;
  const NodeId kept = story.node(1);
  const NodeId old = story.node(1);
  const JobId job = story.running({.min = 1, .max = 2, .cooldown = Duration::seconds(3'600)}, 2);
  drain(story, old);
  const core::Decision decision = story.decide();
  CHECK(names_of(decision) == "shrink switch");
  CHECK(core::sentence(decision.plan.front().reason) ==
        "shrinking 2 -> 1: node-2 is being drained and must be empty in 10 min, and there is no room or no time to "
        "start all of its workers elsewhere");
  story.settle(job);
  CHECK(story.nodes_of(job) == std::vector<NodeId>{kept});
}

TEST_CASE("a gang that fits nowhere else waits for room, and saves its state in time for its grace") {
  OnOldNode scene({.min = 2, .max = 2, .grace = Duration::seconds(30)});
  Story& story = scene.story;
  drain(story, scene.old, Duration::seconds(120));
  CHECK(names_of(story.decide()).empty());
  const core::Reason held = story.job(scene.job).verdict.reason;
  CHECK(core::sentence(held) ==
        "waits for 1 free slot elsewhere, else saves its state in time: node-1 is being drained and must be empty in "
        "2 min");
  CHECK(core::unblocks_of(held, scene.job) ==
        std::vector<std::string>{"add a node with 1 free slot", "schedctl undrain node-1"});
  const Instant deadline = story.state().find_node(scene.old)->drain->deadline;
  REQUIRE(story.engine().next_due() <= deadline - Duration::seconds(30));
  story.pass(Duration::seconds(89));
  story.learn(core::ClockAdvanced{});
  CHECK(core::sentence(core::current_reason(story.state(), story.job(scene.job))).ends_with("must be empty in 31 s"));
  CHECK(names_of(story.decide()).empty());
  REQUIRE(story.engine().next_due() == deadline - Duration::seconds(30));
  story.pass(Duration::seconds(1));
  const core::Decision decision = story.decide();
  CHECK(names_of(decision) == "preempt");
  CHECK(core::sentence(decision.plan.front().reason) ==
        "saving its state and releasing its slots: node-1 is being drained and must be empty in 30 s");
  CHECK(story.job(scene.job).membership.parking);
  story.pass(Duration::seconds(30));
  CHECK(names_of(story.decide()) == "stop_worker stop_worker");
  for (const WorkerId id : story.job(scene.job).membership.workers) CHECK(story.worker(id).kill_at == story.now());
}

TEST_CASE("a job of one worker has two for a while, so that its state is handed on") {
  OnOldNode scene({.min = 1, .max = 2}, 1);
  const NodeId fresh = scene.story.node(1);
  drain(scene.story, scene.old);
  CHECK(names_of(scene.story.decide()) == "grow");
  scene.story.settle(scene.job);
  CHECK(scene.story.nodes_of(scene.job) == std::vector<NodeId>{fresh});
  CHECK(scene.story.state().find_node(scene.old)->is_drained());
}

TEST_CASE("a job that has two workers for a while leaves with the old one, though another node has room for a third") {
  OnOldNode scene({.min = 1, .max = 2}, 1);
  const NodeId fresh = scene.story.node(1);
  (void)scene.story.node(1);
  drain(scene.story, scene.old);
  CHECK(names_of(scene.story.decide()) == "grow");
  const WorkerId joining_worker = scene.story.job(scene.job).membership.workers.back();
  scene.story.ready(joining_worker);
  scene.story.decide();
  scene.story.switched(scene.job);
  CHECK(names_of(scene.story.decide()) == "shrink switch");
  scene.story.settle(scene.job);
  CHECK(scene.story.nodes_of(scene.job) == std::vector<NodeId>{fresh});
  CHECK(scene.story.count("worker.replaced") == 0);
}

TEST_CASE("a job that may only have one worker saves its state and starts again where there is room") {
  OnOldNode scene({.min = 1, .max = 1}, 1);
  drain(scene.story, scene.old);
  CHECK(names_of(scene.story.decide()).empty());
  const NodeId fresh = scene.story.node(1);
  CHECK(names_of(scene.story.decide()) == "preempt");
  for (const WorkerId id : std::vector<WorkerId>(scene.story.job(scene.job).membership.workers)) scene.story.exit(id);
  scene.story.settle(scene.job);
  CHECK(scene.story.nodes_of(scene.job) == std::vector<NodeId>{fresh});
  CHECK(scene.story.job(scene.job).recovery.restarts == 0);
}

TEST_CASE("workers that have still to come up on a drained node are stopped at once") {
  Story story;
  const NodeId old = story.node(1);
  const JobId job = story.submit({.min = 1, .max = 1});
  CHECK(names_of(story.decide()) == "start");
  const NodeId fresh = story.node(1);
  drain(story, old);
  CHECK(names_of(story.decide()) == "preempt stop_worker");
  story.exit(story.job(job).membership.workers.front());
  story.settle(job);
  CHECK(story.nodes_of(job) == std::vector<NodeId>{fresh});
}

TEST_CASE(
    "a joining worker on a node that is drained is given up, and its job goes on with the others in the same "
    "decision") {
  Story story;
  story.node(1);
  const JobId job = story.running({.min = 1, .max = 3, .cooldown = {}}, 1);
  story.node(1);
  story.node(1);
  story.wish(job, 3);
  story.steps(job, 1);
  CHECK(names_of(story.decide()) == "grow");
  const std::vector<WorkerId> joining_workers = story.job(job).phase.transition()->joining_workers;
  REQUIRE(joining_workers.size() == 2);
  story.ready(joining_workers.front());
  drain(story, story.worker(joining_workers.back()).node);
  const core::Decision decision = story.decide();
  REQUIRE(names_of(decision) == "stop_worker switch");
  CHECK(core::sentence(decision.plan.front().reason) ==
        "w-3 may not stay: node-3 is being drained and must be empty in 10 min");
  CHECK(names_of(story.decide()).empty());
  story.exit(joining_workers.back());
  CHECK(story.job(job).recovery.restarts == 0);
}

TEST_CASE("a job whose only joining worker is on a node that is drained stays as it is") {
  Story story;
  story.node(1);
  const JobId job = story.running({.min = 1, .max = 2, .cooldown = {}}, 1);
  const NodeId old = story.node(1);
  story.wish(job, 2);
  story.steps(job, 1);
  CHECK(names_of(story.decide()) == "grow");
  drain(story, old);
  CHECK(story.job(job).phase.transition() == nullptr);
  CHECK(names_of(story.decide()) == "stop_worker");
  CHECK(story.job(job).size() == 1);
}

TEST_CASE("of a notice shorter than twice the grace half is for room elsewhere, and half for the state") {
  OnOldNode scene({.min = 2, .max = 2, .grace = Duration::seconds(30)});
  drain(scene.story, scene.old, Duration::seconds(10));
  CHECK(names_of(scene.story.decide()).empty());
  CHECK(scene.story.engine().next_due() == scene.story.now() + Duration::seconds(5));
  scene.story.pass(Duration::seconds(5));
  CHECK(names_of(scene.story.decide()) == "preempt");
  scene.story.pass(Duration::seconds(5));
  CHECK(names_of(scene.story.decide()) == "stop_worker stop_worker");
}

TEST_CASE("a notice as long as the grace moves a job where there is room, and does not suspend it") {
  OnOldNode scene({.min = 2, .max = 2, .grace = Duration::seconds(30)});
  const NodeId fresh = scene.story.node(2);
  drain(scene.story, scene.old, Duration::seconds(30));
  CHECK(names_of(scene.story.decide()) == "replace");
  scene.story.settle(scene.job);
  CHECK(scene.story.nodes_of(scene.job) == std::vector<NodeId>{fresh, fresh});
}

TEST_CASE("a drain outlives the agent's absence, and a second one moves its deadline") {
  Story story;
  const NodeId node = story.node(2, "a");
  drain(story, node, Duration::seconds(600));
  const Instant since = story.now();
  story.pass(Duration::seconds(60));
  story.learn(core::NodeLost{node, "no heartbeat"});
  story.node(2, "a");
  drain(story, node, Duration::seconds(30));
  const auto& drained = story.state().find_node(node)->drain;
  REQUIRE(drained);
  CHECK(drained->since == since);
  CHECK(drained->deadline == story.now() + Duration::seconds(30));
  CHECK(story.refuses(core::NodeDrainRequested{NodeId(9), Duration::seconds(1), ""}) == "there is no node-9");
  CHECK(story.refuses(core::NodeDrainRequested{node, Duration::seconds(-1), ""}) ==
        "a drain has its deadline in the future");
}

TEST_CASE("a state of a daemon that drained no nodes can be read") {
  Story story;
  const NodeId node = story.node(2);
  auto before = core::to_json(story.state());
  REQUIRE(before.at("nodes").at(0).erase("drain") == 1);
  REQUIRE(core::state_from_json(before).ok());
  drain(story, node);
  const auto read = core::state_from_json(core::to_json(story.state()));
  REQUIRE(read.ok());
  CHECK(read->find_node(node)->drain->reason == "a new disk");
}

}  // namespace tidepool::test
