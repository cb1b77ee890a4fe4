// Nodes with labels, and jobs that ask for some of them.
#include "core/explain/explain.hpp"
#include "core/state/node_constraints.hpp"
#include "core/state/node_labels.hpp"
#include "core/words/sentence.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

JobId ask_for(Story& story, const core::Selector& selector, JobSketch sketch = {}) {
  const JobId id = story.engine().next_job_id();
  core::JobSpec spec = job_spec(sketch);
  spec.placement.selector = selector;
  story.learn(core::JobSubmitted{id, std::move(spec)});
  return id;
}

std::set<NodeId> nodes_with(const Story& story, JobId job) {
  std::set<NodeId> nodes;
  for (const WorkerId worker : story.job(job).membership.workers) nodes.insert(story.worker(worker).node);
  return nodes;
}

std::string said_of(const Story& story, JobId job) {
  return core::explain(story.state(), job).summary;
}

bool has_line(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

struct LabelledRacks {
  Story story;
  NodeId first = story.node(4, "a");
  NodeId second = story.node(4, "b");
  NodeId third = story.node(4, "c");
  LabelledRacks() {
    story.learn(core::NodeLabelled{first, {{"rack", "r1"}}});
    story.learn(core::NodeLabelled{second, {{"rack", "r2"}, {"disk", "ssd"}}});
  }
};

TEST_CASE("A job starts only on nodes that match all of its selector") {
  LabelledRacks racks;
  const JobId job = ask_for(racks.story, {{"rack", {"r1", "r2"}}, {"disk", {"ssd", "nvme"}}});
  racks.story.decide();
  CHECK(nodes_with(racks.story, job) == std::set{racks.second});
  const JobId by_name = ask_for(racks.story, {{"node", {"c"}}});
  racks.story.decide();
  CHECK(nodes_with(racks.story, by_name) == std::set{racks.third});
}

TEST_CASE("A job says that no node matches, and starts once one is labelled") {
  LabelledRacks racks;
  const JobId job = ask_for(racks.story, {{"rack", {"r7", "r8"}}});
  racks.story.decide();
  CHECK(said_of(racks.story, job) == "cannot start: no node that is up has rack r7 or r8");
  const auto why = core::explain(racks.story.state(), job);
  CHECK(has_line(why.unblocks(), "schedctl node label NODE rack=r7"));
  CHECK(has_line(why.unblocks(), "placement.selector"));
  CHECK(has_line(why.evidence, "none has them all"));
  racks.story.learn(core::NodeLabelled{racks.third, {{"rack", "r8"}}});
  racks.story.decide();
  CHECK(nodes_with(racks.story, job) == std::set{racks.third});
}

TEST_CASE("A job that needs more than the matching nodes have says how much that is") {
  LabelledRacks racks;
  const JobId job = ask_for(racks.story, {{"rack", {"r1"}}}, {.min = 6, .max = 6, .preferred = 6});
  racks.story.decide();
  CHECK(said_of(racks.story, job) ==
        "cannot start: it needs 6 slots, and the 1 node that matches rack=r1 has room for 4");
}

TEST_CASE("A job that waits for matching nodes says which jobs hold them") {
  LabelledRacks racks;
  racks.story.learn(core::NodeLabelled{racks.third, {{"rack", "r1"}}});
  const JobSketch all{.min = 4, .max = 4, .preferred = 4};
  const JobId one = ask_for(racks.story, {{"node", {"a"}}}, all);
  const JobId two = ask_for(racks.story, {{"node", {"c"}}}, all);
  racks.story.settle(one);
  racks.story.settle(two);
  const JobId waiting = ask_for(racks.story, {{"rack", {"r1"}}});
  racks.story.decide();
  CHECK(said_of(racks.story, waiting) ==
        "waits for 1 slot: 2 nodes match rack=r1, and all 8 of their slots are held by " + one.text() + " and " +
            two.text());
  CHECK(has_line(core::explain(racks.story.state(), waiting).unblocks(), "the end of " + one.text()));
}

TEST_CASE("Running workers stay when the labels of their node change, and new ones follow the new labels") {
  LabelledRacks racks;
  const JobId job = ask_for(racks.story, {{"rack", {"r1"}}}, {.max = 4, .preferred = 2, .cooldown = {}});
  racks.story.wish(2);
  racks.story.settle(job);
  REQUIRE(nodes_with(racks.story, job) == std::set{racks.first});
  racks.story.learn(core::NodeLabelled{racks.first, {{"rack", std::nullopt}}});
  racks.story.learn(core::NodeLabelled{racks.third, {{"rack", "r1"}}});
  racks.story.decide();
  CHECK(nodes_with(racks.story, job) == std::set{racks.first});
  racks.story.wish(3);
  racks.story.learn(core::JobResizeRequested{job, 3});
  racks.story.settle(job);
  CHECK(nodes_with(racks.story, job) == std::set{racks.first, racks.third});
}

TEST_CASE("What an operator sets stays when the node joins again, and hides what its token gave") {
  Story story;
  core::NodeJoined joined{NodeId(1), "a", 2, "cpu", Money(), {}};
  joined.labels = {{"rack", "r1"}, {"zone", "z1"}};
  story.learn(joined);
  const core::Node& node = *story.state().find_node(NodeId(1));
  CHECK(core::labels_of(node) == core::Labels{{"rack", "r1"}, {"zone", "z1"}});
  const auto events = story.learn(core::NodeLabelled{NodeId(1), {{"rack", "r2"}, {"zone", std::nullopt}}});
  REQUIRE(events.size() == 1);
  CHECK(events.front().type == "node.labelled");
  CHECK(story.learn(core::NodeLabelled{NodeId(1), {{"rack", "r2"}}}).empty());
  story.learn(core::NodeLost{NodeId(1), "gone"});
  joined.labels["size"] = "big";
  story.learn(joined);
  CHECK(core::labels_of(*story.state().find_node(NodeId(1))) == core::Labels{{"rack", "r2"}, {"size", "big"}});
  CHECK(story.refuses(core::NodeLabelled{NodeId(1), {{"slot_type", "h100"}}}).find("cannot be set") !=
        std::string::npos);
  core::NodeLabelled many{NodeId(1), {}};
  for (int i = 0; i < 40; ++i) many.labels["k" + std::to_string(i)] = "v";
  CHECK(story.refuses(many).find("at most 32") != std::string::npos);
}

TEST_CASE("A plan that places a worker on a node that does not match breaks the law of the selector") {
  LabelledRacks racks;
  const JobId job = ask_for(racks.story, {{"rack", {"r1"}}});
  core::Decision decision = racks.story.engine().decide(racks.story.now());
  auto& start = std::get<core::StartIntent>(decision.plan.front().intent);
  REQUIRE(start.job == job);
  start.joining_workers.front().node = racks.second;
  const auto refused = racks.story.engine().validate(decision);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.starts_with("NodesMatchTheSelector: job-1 on node-2, disk=ssd, rack=r2"));
}

TEST_CASE("A drained node's workers move only to nodes that match") {
  LabelledRacks racks;
  const JobId job = ask_for(racks.story, {{"rack", {"r1"}}}, {.max = 2, .preferred = 2});
  racks.story.settle(job);
  racks.story.learn(core::NodeDrainRequested{racks.first, Duration::seconds(600), ""});
  racks.story.settle(job);
  CHECK(nodes_with(racks.story, job) == std::set{racks.first});
  racks.story.learn(core::NodeLabelled{racks.third, {{"rack", "r1"}}});
  racks.story.settle(job);
  CHECK(nodes_with(racks.story, job) == std::set{racks.third});
}

TEST_CASE("No node of a pool is taken to have labels that are known only once it joins") {
  core::Job job;
  job.spec.placement.selector = {{"slot_type", {"h100"}}};
  const core::Node made = core::node_to_be({.name = "gpu", .slot_type = "h100"});
  CHECK(core::may_run_on(job, made));
  job.spec.placement.selector["rack"] = {"r1"};
  CHECK_FALSE(core::may_run_on(job, made));
}

}  // namespace
TEST_CASE("a job whose only node is lost is told to bring back that one, and never to cancel itself") {
  Story story;
  const NodeId other = story.node(2, "a");
  const NodeId own = story.node(1, "b");
  const NodeId away = story.node(1, "c");
  const JobId job = ask_for(story, {{"node", {"b"}}}, {.min = 1, .max = 1});
  story.decide();
  story.settle(job);
  REQUIRE(nodes_with(story, job) == std::set{own});
  story.learn(core::NodeLost{own, "no agent"});
  story.learn(core::NodeLost{away, "no agent"});
  story.decide();
  const auto why = core::explain(story.state(), job);
  INFO(why.summary);
  CHECK(has_line(why.unblocks(), "bring back b"));
  CHECK_FALSE(has_line(why.unblocks(), "bring back c"));
  CHECK_FALSE(has_line(why.unblocks(), "cancel " + job.text()));
  CHECK(story.state().find_node(other)->takes_workers());
}

}  // namespace tidepool::test
