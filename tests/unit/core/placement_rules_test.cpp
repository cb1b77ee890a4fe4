// Jobs that say how their workers lie among domains of nodes, and jobs that want nodes of their own.
#include <set>

#include "core/explain/explain.hpp"
#include "core/place/arrangement.hpp"
#include "core/place/placement.hpp"
#include "core/place/together.hpp"
#include "core/state/node_labels.hpp"
#include "core/validate/plan_validator.hpp"
#include "core/words/sentence.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

using enum core::TopologyStrategy;
using core::PlacementSpec;
using core::WorkersOn;

const core::Selector kInRacks{{"rack", {"r1", "r2"}}};

JobId submit(Story& story, const PlacementSpec& placement, const JobSketch& sketch = {}) {
  const JobId id = story.engine().next_job_id();
  core::JobSpec spec = job_spec(sketch);
  spec.placement = placement;
  story.learn(core::JobSubmitted{id, std::move(spec)});
  return id;
}

JobId start(Story& story, const PlacementSpec& placement, int size, JobSketch sketch = {.cooldown = Duration()}) {
  sketch.min = sketch.max = sketch.preferred = size;
  const JobId id = submit(story, placement, sketch);
  story.settle(id);
  return id;
}

WorkersOn lies_on(const Story& story, JobId job) {
  return core::nodes_of(story.state(), story.job(job).membership.workers);
}

std::string summary_of(const Story& story, JobId job) {
  return core::explain(story.state(), job).summary;
}

bool suggests(const Story& story, JobId job, const std::string& part) {
  const auto lines = core::explain(story.state(), job).unblocks();
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

// Two racks of two nodes with two slots each, and a node in none.
struct FiveNodes {
  Story story;
  std::vector<NodeId> nodes;
  FiveNodes() {
    for (const auto& [name, rack] : {std::pair("a", "r1"), {"b", "r1"}, {"c", "r2"}, {"d", "r2"}}) {
      nodes.push_back(story.node(2, name));
      story.learn(core::NodeLabelled{nodes.back(), {{"rack", rack}}});
    }
    nodes.push_back(story.node(2, "e"));
  }
};

TEST_CASE("strict_pack puts all workers into one domain, that with the smallest room that takes them") {
  FiveNodes racks;
  const JobId other = start(racks.story, {.selector = {{"node", {"c"}}}}, 1);
  REQUIRE(lies_on(racks.story, other) == WorkersOn{{racks.nodes[2], 1}});
  const JobId job = start(racks.story, {.strategy = kStrictPack, .key = "rack"}, 3);
  CHECK(lies_on(racks.story, job) == WorkersOn{{racks.nodes[2], 1}, {racks.nodes[3], 2}});
}

TEST_CASE("a job waits until one domain has room for it, and says which one has most") {
  FiveNodes racks;
  (void)start(racks.story, {.selector = {{"node", {"a"}}}}, 1);
  const JobId later = start(racks.story, {.selector = {{"node", {"c"}}}}, 2);
  const JobId job = submit(racks.story, {.strategy = kStrictPack, .key = "rack"}, {.min = 4, .max = 4, .preferred = 4});
  racks.story.decide();
  CHECK(racks.story.job(job).state() == core::JobState::kPending);
  CHECK(summary_of(racks.story, job) == "waits for 4 slots in one rack: no rack has so many free, rack r1 has 3");
  CHECK(suggests(racks.story, job, "the end of job-1"));
  CHECK(suggests(racks.story, job, "topology.strategy: pack"));
  CHECK(names_of(racks.story.decide()).empty());
  for (const WorkerId worker : std::vector(racks.story.job(later).membership.workers)) racks.story.exit(worker);
  racks.story.learn(core::JobCancelRequested{later});
  racks.story.settle(job);
  CHECK(lies_on(racks.story, job) == WorkersOn{{racks.nodes[2], 2}, {racks.nodes[3], 2}});
}

TEST_CASE("the domain for which a job waits is kept for it: others go elsewhere, and those that are there move away") {
  FiveNodes racks;
  Story& story = racks.story;
  story.strict(false);
  story.wish(1);
  const JobId mover = submit(story, {}, {.max = 2, .cooldown = Duration()});
  story.settle(mover);
  REQUIRE(lies_on(story, mover) == WorkersOn{{racks.nodes[0], 1}});
  (void)start(story, {.selector = {{"node", {"c"}}}}, 1);
  const JobId job = submit(story, {.strategy = kStrictPack, .key = "rack"}, {.min = 4, .max = 4, .preferred = 4});
  const JobId behind = submit(story, {}, {.min = 1, .max = 1});
  story.wish(job, 4);
  story.decide();
  CHECK(story.job(job).state() == core::JobState::kPending);
  CHECK(lies_on(story, behind) == WorkersOn{{racks.nodes[2], 1}});
  story.settle(behind);
  story.pass(Duration::seconds(3'600));
  REQUIRE(names_of(story.decide()) == "move");
  story.settle(mover);
  story.settle(job);
  CHECK(lies_on(story, job) == WorkersOn{{racks.nodes[0], 2}, {racks.nodes[1], 2}});
}

TEST_CASE("a job that no domain would hold says so, with the largest one") {
  FiveNodes racks;
  const JobId packed = submit(racks.story, {.strategy = kStrictPack, .key = "rack"}, {.min = 5, .max = 5});
  const JobId apart = submit(racks.story, {.strategy = kStrictSpread, .key = "rack"}, {.min = 4, .max = 4});
  racks.story.decide();
  CHECK(summary_of(racks.story, packed) == "cannot start: it needs 5 slots in one rack, and rack r1 has 4");
  CHECK(summary_of(racks.story, apart) ==
        "cannot start: each of its 4 workers needs a rack of its own, and 3 have room for one");
  CHECK(suggests(racks.story, packed, "lower elastic.min to 4"));
  CHECK(suggests(racks.story, apart, "topology.strategy: spread"));
  CHECK(suggests(racks.story, apart, "lower elastic.min to 3"));
}

TEST_CASE("a job that needs more domains than there are is told how many there are, however few are free now") {
  FiveNodes racks;
  (void)racks.story.running({.min = 4, .max = 4}, 4);
  const JobId apart = submit(racks.story, {.strategy = kStrictSpread, .key = "rack"}, {.min = 4, .max = 4});
  racks.story.decide();
  CHECK(suggests(racks.story, apart, "lower elastic.min to 3"));
}

TEST_CASE("strict_spread puts no two workers into one domain, and a node without the label is one of its own") {
  FiveNodes racks;
  const JobId job = start(racks.story, {.strategy = kStrictSpread, .key = "rack"}, 3);
  CHECK(lies_on(racks.story, job) == WorkersOn{{racks.nodes[0], 1}, {racks.nodes[2], 1}, {racks.nodes[4], 1}});
}

TEST_CASE("a job waits until each of its workers finds a domain of its own, whose slots are kept for it") {
  Story story;
  for (int node = 0; node < 3; ++node) story.node(1);
  const JobId first = start(story, {}, 1);
  const JobId job = submit(story, {.strategy = kStrictSpread}, {.min = 3, .max = 3, .preferred = 3});
  const JobId behind = submit(story, {});
  story.decide();
  CHECK(summary_of(story, job) ==
        "waits until each of its 3 workers finds room in a node of its own: 2 have a free slot");
  CHECK(story.job(behind).state() == core::JobState::kPending);
  story.exit(story.job(first).membership.workers.front());
  story.learn(core::JobCancelRequested{first});
  story.settle(job);
  CHECK(lies_on(story, job).size() == 3);
}

TEST_CASE("spread uses all domains evenly, and goes on where there are too few") {
  FiveNodes racks;
  const JobId job = start(racks.story, {.strategy = kSpread, .key = "rack"}, 5);
  std::map<std::string, int> workers;
  for (const auto& [node, count] : lies_on(racks.story, job)) {
    workers[core::domain_of(*racks.story.state().find_node(node), "rack")] += count;
  }
  REQUIRE(workers.size() == 3);
  for (const auto& [domain, count] : workers) CHECK(count <= 2);
}

TEST_CASE("a job that is spread gives up workers where it has most") {
  FiveNodes racks;
  const JobId job = submit(racks.story, {.strategy = kSpread, .key = "rack"},
                           {.min = 2, .max = 5, .preferred = 5, .cooldown = Duration()});
  racks.story.wish(job, 5);
  racks.story.settle(job);
  REQUIRE(racks.story.job(job).size() == 5);
  racks.story.wish(job, 3);
  racks.story.steps(job, 2);
  racks.story.decide();
  racks.story.settle(job);
  std::set<std::string> domains;
  for (const auto& [node, count] : core::nodes_of(racks.story.state(), racks.story.job(job).membership.members)) {
    domains.insert(core::domain_of(*racks.story.state().find_node(node), "rack"));
  }
  CHECK(racks.story.job(job).size() == 3);
  CHECK(domains.size() == 3);
}

TEST_CASE("pack by a label uses as few domains as are free, and starts where none has room for all") {
  FiveNodes racks;
  (void)start(racks.story, {.selector = {{"node", {"a"}}}}, 1);
  const JobId job = start(racks.story, {.strategy = kPack, .key = "rack"}, 4);
  CHECK(lies_on(racks.story, job) == WorkersOn{{racks.nodes[2], 2}, {racks.nodes[3], 2}});
  const JobId large = start(racks.story, {.strategy = kPack, .key = "rack"}, 5);
  CHECK(racks.story.job(large).size() == 5);
}

TEST_CASE("a job grows only within its domain, and says that there is no room in it") {
  FiveNodes racks;
  const JobId job = submit(racks.story, {.selector = kInRacks, .strategy = kStrictPack, .key = "rack"},
                           {.min = 2, .max = 4, .preferred = 2, .cooldown = Duration()});
  racks.story.wish(job, 2);
  racks.story.settle(job);
  REQUIRE(lies_on(racks.story, job) == WorkersOn{{racks.nodes[0], 2}});
  const JobId other = start(racks.story, {.selector = {{"node", {"b"}}}}, 1);
  racks.story.wish(job, 4);
  racks.story.steps(job, 2);
  racks.story.decide();
  racks.story.settle(job);
  CHECK(lies_on(racks.story, job) == WorkersOn{{racks.nodes[0], 2}, {racks.nodes[1], 1}});
  racks.story.steps(job, 2);
  racks.story.decide();
  CHECK(summary_of(racks.story, job) == "keeps 3 workers: its target is 4, and its rack has no room for them");
  CHECK(racks.story.job(other).size() == 1);
}

TEST_CASE("a worker that leaves a drained node stays in its job's domain, and all move where it has no other room") {
  FiveNodes racks;
  const JobId job = start(racks.story, {.selector = kInRacks, .strategy = kStrictPack, .key = "rack"}, 2);
  REQUIRE(lies_on(racks.story, job) == WorkersOn{{racks.nodes[0], 2}});
  racks.story.learn(core::NodeDrainRequested{racks.nodes[0], Duration::seconds(600), ""});
  REQUIRE(names_of(racks.story.decide()) == "replace");
  racks.story.settle(job);
  CHECK(core::nodes_of(racks.story.state(), racks.story.job(job).membership.members) == WorkersOn{{racks.nodes[1], 2}});
  racks.story.learn(core::NodeDrainRequested{racks.nodes[1], Duration::seconds(600), ""});
  REQUIRE(names_of(racks.story.decide()) == "move");
  racks.story.settle(job);
  CHECK(core::nodes_of(racks.story.state(), racks.story.job(job).membership.members) == WorkersOn{{racks.nodes[2], 2}});
}

TEST_CASE("an exclusive job goes to nodes without other jobs, and what is free there is its own") {
  Story story;
  const NodeId shared = story.node(4);
  const NodeId own = story.node(4);
  const JobId first = start(story, {}, 1);
  REQUIRE(lies_on(story, first) == WorkersOn{{shared, 1}});
  const JobId job = submit(story, {.exclusive = true}, {.min = 1, .max = 4, .cooldown = Duration()});
  story.wish(job, 1);
  story.settle(job);
  CHECK(lies_on(story, job) == WorkersOn{{own, 1}});
  const JobId other = start(story, {}, 3);
  CHECK(lies_on(story, other) == WorkersOn{{shared, 3}});
  const JobId late = submit(story, {});
  story.decide();
  CHECK(story.job(late).state() == core::JobState::kPending);
  story.learn(core::JobCancelRequested{late});
  story.decide();
  story.wish(job, 3);
  story.steps(job, 2);
  story.decide();
  story.settle(job);
  CHECK(lies_on(story, job) == WorkersOn{{own, 3}});
}

TEST_CASE("a job that waits is told how many free slots are on nodes that others have to themselves") {
  Story story;
  story.node(4, "shared");
  const NodeId own = story.node(4, "own");
  (void)start(story, {}, 3);
  const JobId alone = start(story, {.exclusive = true}, 1);
  REQUIRE(lies_on(story, alone) == WorkersOn{{own, 1}});
  const auto told = [&](const PlacementSpec& placement, int slots) {
    core::Job job = story.job(submit(story, placement, {.gpus = slots}));
    job.verdict.job = job.id;
    job.verdict.reason = core::reason::WaitingForSlots{.needed = slots};
    return core::explain(story.state(), job);
  };
  const core::Explanation wide = told({}, 2);
  CHECK(wide.summary == "waits for 2 slots; 4 are free, but scattered or kept for others");
  CHECK_THAT(wide.evidence, Catch::VectorContains(std::string(
                                "of the 4 free slots 3 are on nodes that other jobs have to themselves "
                                "(placement.exclusive: " +
                                alone.text() + " on own), 1 is scattered (a worker needs 2 slots on one node)")));
  // Also of a job that asks for particular nodes.
  const core::Explanation bound = told({.selector = {{"node", {"own"}}}}, 1);
  CHECK(bound.summary == "waits for 1 slot; 3 are free, but scattered or kept for others");
  CHECK_THAT(bound.evidence,
             Catch::VectorContains(std::string("the 3 free slots are on nodes that other jobs have to themselves "
                                               "(placement.exclusive: " +
                                               alone.text() + " on own)")));
}

TEST_CASE("a node that is kept for an exclusive job is closed with the others, and its own job goes on to grow there") {
  Story story;
  const NodeId own = story.node(4);
  const JobId job = submit(story, {.exclusive = true}, {.min = 1, .max = 4, .cooldown = Duration()});
  story.wish(job, 1);
  story.settle(job);
  REQUIRE(lies_on(story, job) == WorkersOn{{own, 1}});
  const JobId waits = submit(story, {});
  core::FreeSlots slots(story.state());
  CHECK_FALSE(slots.is_closed(own));
  slots.close_for(story.job(waits));
  CHECK(slots.is_closed(own));  // what its job leaves there is not counted for others
  CHECK(slots.kept_free(job) == 3);
  CHECK(slots.room_for(story.job(job)) == 3);
}

TEST_CASE("an exclusive job waits for nodes without other jobs, and starts once one is left") {
  Story story;
  story.node(2);
  const JobId first = start(story, {}, 1);
  const JobId job = submit(story, {.exclusive = true});
  story.decide();
  CHECK(summary_of(story, job) == "waits for 1 slot on nodes without other jobs: such nodes have 0");
  CHECK(suggests(story, job, "placement.exclusive: false"));
  CHECK(suggests(story, job, "the end of job-1"));
  story.exit(story.job(first).membership.workers.front());
  story.learn(core::JobCancelRequested{first});
  story.settle(job);
  CHECK(story.job(job).size() == 1);
}

TEST_CASE("a plan that breaks a rule of a job's workers is refused by the rule's name") {
  FiveNodes racks;
  (void)start(racks.story, {.selector = {{"node", {"e"}}}}, 1);
  const auto refused = [&](const PlacementSpec& placement, const std::vector<NodeId>& nodes) {
    const JobId job = submit(racks.story, placement, {.min = 2, .max = 2, .preferred = 2});
    core::Decision decision = racks.story.engine().decide(racks.story.now());
    REQUIRE(names_of(decision) == "start");
    auto& workers = std::get<core::StartIntent>(decision.plan.at(0).intent).joining_workers;
    for (std::size_t at = 0; at < nodes.size(); ++at) {
      workers[at].node = nodes[at];
      workers[at].slots = {
          static_cast<int>(std::count(nodes.begin(), nodes.begin() + static_cast<int>(at), nodes[at]))};
      if (nodes[at] == racks.nodes[4]) workers[at].slots = {1};
    }
    const auto status = core::validate_decision(racks.story.state(), decision);
    racks.story.learn(core::JobCancelRequested{job});
    racks.story.decide();
    return status.ok() ? std::string("valid") : status.error().message.substr(0, status.error().message.find(':'));
  };
  const NodeId one = racks.nodes[0];
  const NodeId next = racks.nodes[1];
  const NodeId far = racks.nodes[2];
  CHECK(refused({.strategy = kStrictPack, .key = "rack"}, {one, next}) == "valid");
  CHECK(refused({.strategy = kStrictPack, .key = "rack"}, {one, far}) == "WorkersShareADomain");
  CHECK(refused({.strategy = kStrictSpread, .key = "rack"}, {one, far}) == "valid");
  CHECK(refused({.strategy = kStrictSpread, .key = "rack"}, {one, next}) == "DomainsHaveOneWorker");
  CHECK(refused({.exclusive = true}, {one, far}) == "valid");
  CHECK(refused({.exclusive = true}, {one, racks.nodes[4]}) == "NodesAreExclusive");
}

}  // namespace
}  // namespace tidepool::test
