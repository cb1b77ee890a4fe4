// Nodes that fail again and again, and get no workers until they have been steady for a while.
#include <catch2/catch.hpp>

#include "base/rng.hpp"
#include "core/explain/explain.hpp"
#include "core/words/sentence.hpp"
#include "core/words/unblock.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

constexpr Duration kMinute = Duration::seconds(60);

void damp(Story& story, const core::NodeDamping& damping = core::kUsualDamping) {
  story.learn(core::NodeDampingConfigured{damping});
}

// The node's agent is lost and comes back at once.
void flap(Story& story, NodeId node) {
  const std::string name = story.state().find_node(node)->name;
  const int slots = static_cast<int>(story.state().find_node(node)->owners.size());
  story.learn(core::NodeLost{node, "no heartbeat"});
  story.node(slots, name);
}

bool takes(const Story& story, NodeId node) {
  return story.state().find_node(node)->takes_workers();
}

const core::NodeFaults& faults_of(const Story& story, NodeId node) {
  const auto& faults = story.state().find_node(node)->faults;
  REQUIRE(faults);
  return *faults;
}

// A node with three losses five minutes apart: its penalty is 1/2 + 1/sqrt(2) + 1.
struct Flapping {
  Story story;
  NodeId node;

  Flapping() {
    damp(story);
    node = story.node(2, "a");
    for (int loss = 0; loss < 3; ++loss) {
      if (loss > 0) story.pass(kMinute * 5);
      flap(story, node);
    }
  }
};

}  // namespace

TEST_CASE("the third loss in ten minutes keeps workers off a node until its penalty has gone down") {
  Story story;
  damp(story);
  const NodeId node = story.node(2, "a");
  flap(story, node);
  story.pass(kMinute * 5);
  flap(story, node);
  CHECK(takes(story, node));
  story.pass(kMinute * 5);
  flap(story, node);
  CHECK_FALSE(takes(story, node));
  CHECK(faults_of(story, node).penalty == Approx(0.5 + std::sqrt(0.5) + 1));
  // 10 min * log2(2.2071 / 0.75) = 934.3 s
  CHECK(faults_of(story, node).until == story.now() + Duration::seconds(935));
  CHECK(story.last("node.unsteady").data == nlohmann::json{{"name", "a"},
                                                           {"losses", 3},
                                                           {"failed_starts", 0},
                                                           {"within_seconds", 600.0},
                                                           {"seconds", 935.0},
                                                           {"why", "no heartbeat"}});
  CHECK(story.engine().clock_due() == story.now() + Duration::seconds(935));
  CHECK(story.engine().next_due() == story.now() + Duration::seconds(935));
}

TEST_CASE("a job that waits for an unsteady node says so, and starts when the node is steady") {
  Flapping scene;
  Story& story = scene.story;
  const JobId job = story.submit({.min = 2, .max = 2});
  CHECK(names_of(story.decide()).empty());
  const core::Reason waits = story.job(job).verdict.reason;
  REQUIRE(says<core::reason::NodesUnsteady>(waits));
  CHECK(core::sentence(waits) ==
        "needs 2 slots, and without the nodes that fail again and again, such as node-1, there are 0");
  CHECK(core::unblocks_of(waits, job) ==
        std::vector<std::string>{"node-1 stays without a fault for a while: schedctl nodes says until when",
                                 "schedctl node clear-faults node-1", "add a node with 2 slots"});
  story.pass(Duration::seconds(934));
  story.learn(core::ClockAdvanced{});
  CHECK(names_of(story.decide()).empty());
  story.pass(Duration::seconds(1));
  story.learn(core::ClockAdvanced{});
  CHECK(story.last("node.steady").data["cleared"] == false);
  CHECK_FALSE(story.engine().clock_due());
  CHECK(names_of(story.decide()) == "start");
}

TEST_CASE("workers stay on a node that becomes unsteady, and no new ones come") {
  Story story;
  damp(story);
  const NodeId node = story.node(4, "a");
  const JobId job = story.running({.min = 1, .max = 4, .cooldown = {}}, 2);
  for (int loss = 0; loss < 3; ++loss) {
    story.learn(core::NodeLost{node, "no heartbeat"});
    story.node(4, "a", story.job(job).membership.workers);
  }
  REQUIRE(story.state().find_node(node)->is_unsteady());
  story.settle(job);
  story.wish(job, 4);
  story.steps(job, 2);
  CHECK(names_of(story.decide()).empty());
  CHECK(story.job(job).size() == 2);
}

TEST_CASE("an operator clears the faults of a node, and it takes workers at once") {
  Flapping scene;
  scene.story.learn(core::NodeFaultsCleared{scene.node});
  CHECK(takes(scene.story, scene.node));
  CHECK(scene.story.last("node.steady").data["cleared"] == true);
  CHECK_FALSE(scene.story.state().find_node(scene.node)->faults);
  scene.story.learn(core::NodeFaultsCleared{scene.node});
  CHECK(scene.story.count("node.steady") == 1);
  flap(scene.story, scene.node);
  CHECK(takes(scene.story, scene.node));
  CHECK(scene.story.refuses(core::NodeFaultsCleared{NodeId(9)}) == "there is no node-9");
}

TEST_CASE("another fault lengthens the wait, up to the longest") {
  Flapping scene;
  const Instant before = *faults_of(scene.story, scene.node).until;
  flap(scene.story, scene.node);
  CHECK(*faults_of(scene.story, scene.node).until > before);
  for (int loss = 0; loss < 100; ++loss) flap(scene.story, scene.node);
  CHECK(faults_of(scene.story, scene.node).until == scene.story.now() + kMinute * 60);
  CHECK(faults_of(scene.story, scene.node).losses == 104);
}

TEST_CASE("losses far apart are forgotten, and announced ones do not count") {
  Story story;
  damp(story);
  const NodeId node = story.node(1, "a");
  for (int loss = 0; loss < 20; ++loss) {
    flap(story, node);
    story.pass(kMinute * 30);
  }
  CHECK(takes(story, node));
  CHECK(faults_of(story, node).losses == 1);
  story.learn(core::NodeFaultsCleared{node});
  story.learn(core::NodeDrainRequested{node, kMinute, "new firmware"});
  for (int loss = 0; loss < 5; ++loss) flap(story, node);
  story.learn(core::NodeDrainCancelled{node});
  story.learn(core::NodeCordonChanged{node, true});
  for (int loss = 0; loss < 5; ++loss) flap(story, node);
  story.learn(core::NodeCordonChanged{node, false});
  CHECK(takes(story, node));
}

TEST_CASE("faults are not counted while that is off, and turning it off makes every node steady") {
  Story story;
  const NodeId node = story.node(1, "a");
  for (int loss = 0; loss < 5; ++loss) flap(story, node);
  CHECK(takes(story, node));
  damp(story);
  for (int loss = 0; loss < 3; ++loss) flap(story, node);
  CHECK_FALSE(takes(story, node));
  damp(story, {});
  CHECK(takes(story, node));
  CHECK_FALSE(story.state().find_node(node)->faults);
  CHECK(story.refuses(core::NodeDampingConfigured{{.half_life = kMinute, .suppress = 1, .reuse = 2}}) ==
        "the damping of nodes needs 0 < reuse < suppress, and longest at least half_life");
}

TEST_CASE("workers that end before they are ready count against their node, one job in a row once") {
  Story story;
  damp(story);
  const NodeId node = story.node(8, "a");
  std::vector<JobId> jobs;
  for (int i = 0; i < 3; ++i)
    jobs.push_back(story.running({.min = 1, .max = 2, .max_restarts = 99, .cooldown = {}}, 1));
  const auto fail_to_grow = [&](JobId job, int code) {
    story.wish(job, 2);
    story.steps(job, 2);
    story.decide();
    const WorkerId fresh = story.job(job).membership.workers.back();
    REQUIRE(story.worker(fresh).phase == core::WorkerPhase::kStarting);
    story.exit(fresh, code, "no such device");
    story.wish(job, 1);
    story.settle(job);
  };
  for (int again = 0; again < 5; ++again) fail_to_grow(jobs[0], 1);
  CHECK(faults_of(story, node).failed_starts == 1);
  fail_to_grow(jobs[1], 2);  // its own settings are wrong
  CHECK(faults_of(story, node).failed_starts == 1);
  fail_to_grow(jobs[1], 1);
  CHECK(takes(story, node));
  fail_to_grow(jobs[2], 1);
  CHECK_FALSE(takes(story, node));
  CHECK(story.last("node.unsteady").data["failed_starts"] == 3);
  CHECK(story.last("node.unsteady").data["why"] == "no such device");
}

TEST_CASE("a job that has never run says nothing about its node") {
  Story story;
  damp(story);
  const NodeId node = story.node(1, "a");
  const JobId job = story.submit({.min = 1, .max = 1, .max_restarts = 9});
  for (int i = 0; i < 5; ++i) {
    story.decide();
    story.exit(story.job(job).membership.workers.front(), 127, "python3: not found");
  }
  CHECK_FALSE(story.state().find_node(node)->faults);
}

TEST_CASE("a node whose agent can start nothing is left after a few tries, and no job pays for it with its restarts") {
  Story story;
  damp(story);
  const NodeId full = story.node(1, "a");
  const JobId job = story.submit({.min = 1, .max = 1, .max_restarts = 0});
  for (int i = 0; i < 2; ++i) {
    REQUIRE(takes(story, full));
    story.decide();
    story.learn(core::WorkerExited{.worker = story.job(job).membership.workers.front(),
                                   .detail = "No space left on device",
                                   .nothing_started = true});
    CHECK(story.job(job).recovery.restarts == 0);
  }
  CHECK_FALSE(takes(story, full));
  CHECK_THAT(story.job(job).recovery.last_error, Catch::Contains("No space left on device"));
  const NodeId other = story.node(1, "b");
  story.decide();
  CHECK(story.worker(story.job(job).membership.workers.front()).node == other);
}

TEST_CASE("however nodes fail, close and come back between two decisions, an engine made anew knows no more of them") {
  Rng rng(3);
  Story story;
  damp(story);
  std::vector<NodeId> nodes;
  for (const char* name : {"a", "b", "c", "d"}) nodes.push_back(story.node(2, name));
  const auto knows_all = [&] {
    const core::Engine anew(plain_parts(std::make_shared<WishPolicy::Wishes>()), story.state());
    return anew.clock_due() == story.engine().clock_due();
  };
  int due = 0;
  for (int i = 0; i < 200; ++i) {
    const NodeId node = nodes[rng.below(nodes.size())];
    if (rng.chance(0.5)) flap(story, node);
    if (rng.chance(0.1)) story.learn(core::NodeFaultsCleared{node});
    if (rng.chance(0.2)) story.learn(core::NodeCordonChanged{node, rng.chance(0.5)});
    if (rng.chance(0.3)) story.pass(kMinute * rng.between(1, 4));
    REQUIRE(knows_all());
    due += story.engine().clock_due() ? 1 : 0;
    if (rng.chance(0.3)) story.decide();
  }
  CHECK(due > 20);
  for (int loss = 0; loss < 3; ++loss) flap(story, nodes[0]);
  story.learn(core::NodeLost{nodes[0], "no heartbeat"});
  story.learn(core::NodeRemoved{nodes[0]});
  CHECK(knows_all());
  story.decide();
}

TEST_CASE("faults outlive a restart, and states of before have none") {
  Flapping scene;
  const auto read = core::state_from_json(core::to_json(scene.story.state()));
  REQUIRE(read.ok());
  CHECK(core::digest_of(*read) == core::digest_of(scene.story.state()));
  core::Engine again(plain_parts(std::make_shared<WishPolicy::Wishes>()), *read);
  CHECK(again.clock_due() == scene.story.engine().clock_due());
  auto before = core::to_json(scene.story.state());
  REQUIRE(before.erase("node_damping") == 1);
  REQUIRE(before.at("nodes").at(0).erase("faults") == 1);
  const auto old = core::state_from_json(before);
  REQUIRE(old.ok());
  CHECK(old->find_node(scene.node)->takes_workers());
  CHECK_FALSE(old->damping.is_on());
}

}  // namespace tidepool::test
