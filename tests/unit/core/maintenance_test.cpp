// Maintenance windows: nodes are empty when one begins, and take workers again when it has ended.
#include <catch2/catch.hpp>

#include "core/explain/explain.hpp"
#include "core/words/sentence.hpp"
#include "core/words/unblock.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

constexpr Duration kOneMinute = Duration::seconds(60);

// From and to are so long after now.
core::MaintenanceWindow window(const Story& story, Duration from, Duration to) {
  return {.number = story.state().maintenance.next,
          .selector = {{"rack", {"r1"}}},
          .from_us = (story.now() + from).count_us() + story.state().utc_us_at_zero,
          .to_us = (story.now() + to).count_us() + story.state().utc_us_at_zero,
          .lead = kOneMinute * 10,
          .every = {},
          .reason = "new firmware"};
}

// Lets time pass and takes what is due by it.
void pass(Story& story, Duration time) {
  story.pass(time);
  if (const auto due = story.engine().clock_due(); due && *due <= story.now()) story.learn(core::ClockAdvanced{});
}

// Two racks of one node each.
struct TwoRacks {
  Story story;
  NodeId first;
  NodeId second;

  explicit TwoRacks(int slots = 2) {
    first = story.node(slots, "a");
    second = story.node(slots, "b");
    story.learn(core::NodeLabelled{first, {{"rack", "r1"}}});
    story.learn(core::NodeLabelled{second, {{"rack", "r2"}}});
  }
  void add(Duration from, Duration to) { story.learn(core::MaintenanceAdded{window(story, from, to)}); }
  [[nodiscard]] const std::optional<core::NodeDrain>& drain(NodeId node) const {
    return story.state().find_node(node)->drain;
  }
};

}  // namespace

TEST_CASE("a node is drained from the lead on, empty when its window begins, and back when it has ended") {
  TwoRacks racks;
  Story& story = racks.story;
  const JobId job = story.running({.min = 2, .max = 2}, 2);
  REQUIRE(story.worker(story.job(job).membership.workers.front()).node == racks.first);
  racks.add(kOneMinute * 30, kOneMinute * 90);
  const Instant begins = story.now() + kOneMinute * 30;
  CHECK_FALSE(racks.drain(racks.first));
  CHECK(story.engine().clock_due() == begins - kOneMinute * 10);
  CHECK(story.engine().next_due() <= begins - kOneMinute * 10);
  pass(story, kOneMinute * 20);
  REQUIRE(racks.drain(racks.first));
  CHECK(racks.drain(racks.first)->deadline == begins);
  CHECK(racks.drain(racks.first)->only_window() == 1);
  CHECK_FALSE(racks.drain(racks.second));
  CHECK(story.last("node.draining").data["seconds"] == 600.0);
  CHECK(story.last("node.draining").data["reason"] == "new firmware");
  const core::Decision decision = story.decide();
  REQUIRE(names_of(decision) == "replace");
  CHECK(core::sentence(decision.plan.front().reason) ==
        "moving w-1 to node-2: node-1 must be empty for maintenance in 10 min");
  story.settle(job);
  CHECK(story.count("node.drained") == 1);
  CHECK(story.job(job).recovery.restarts == 0);
  pass(story, kOneMinute * 10);
  CHECK(story.count("maintenance.began") == 1);
  CHECK(story.engine().clock_due() == begins + kOneMinute * 60);
  story.decide();
  pass(story, kOneMinute * 59);
  CHECK_FALSE(story.state().find_node(racks.first)->takes_workers());
  pass(story, kOneMinute);
  CHECK(story.state().find_node(racks.first)->takes_workers());
  CHECK(story.count("node.undrained") == 1);
  CHECK(story.count("maintenance.ended") == 1);
  CHECK(story.state().maintenance.windows.empty());
  CHECK_FALSE(story.engine().clock_due());
}

TEST_CASE("a job that waits for nodes in maintenance says so, and starts when the window has ended") {
  Story story;
  const NodeId node = story.node(2, "a");
  story.learn(core::NodeLabelled{node, {{"rack", "r1"}}});
  story.learn(core::MaintenanceAdded{window(story, kOneMinute * 5, kOneMinute * 60)});
  const JobId job = story.submit({.min = 2, .max = 2});
  CHECK(names_of(story.decide()).empty());
  const core::Reason waits = story.job(job).verdict.reason;
  REQUIRE(says<core::reason::NodesDrain>(waits));
  CHECK(core::sentence(waits) ==
        "needs 2 slots, and without the nodes that are in maintenance, such as node-1, there are 0");
  CHECK(core::unblocks_of(waits, job) ==
        std::vector<std::string>{"schedctl maintenance remove mw-1", "add a node with 2 slots"});
  CHECK(story.refuses(core::NodeDrainCancelled{node}) ==
        "a is drained for the maintenance window mw-1, which continues; end it with: schedctl maintenance remove "
        "mw-1");
  pass(story, kOneMinute * 60);
  CHECK(names_of(story.decide()) == "start");
}

TEST_CASE("of two windows that overlap a node is out for both, and each can be taken away") {
  TwoRacks racks;
  Story& story = racks.story;
  racks.add(kOneMinute * 20, kOneMinute * 60);
  racks.add(kOneMinute * 50, kOneMinute * 120);
  const Instant zero = story.now();
  pass(story, kOneMinute * 10);
  CHECK(racks.drain(racks.first)->maintenance->ends == zero + kOneMinute * 60);
  pass(story, kOneMinute * 30);  // the second one's lead begins
  CHECK(racks.drain(racks.first)->maintenance->window == 1);
  CHECK(racks.drain(racks.first)->maintenance->ends == zero + kOneMinute * 120);
  pass(story, kOneMinute * 20);  // the first one ends
  CHECK(racks.drain(racks.first)->maintenance->window == 2);
  CHECK(racks.drain(racks.first)->since == zero + kOneMinute * 10);
  CHECK(story.count("node.undrained") == 0);
  story.learn(core::MaintenanceRemoved{2});
  CHECK_FALSE(racks.drain(racks.first));
  CHECK(story.count("node.undrained") == 1);
  CHECK(story.refuses(core::MaintenanceRemoved{2}) == "there is no maintenance window mw-2");
}

TEST_CASE("a window that comes again drains its nodes each time, and time that was slept through is made up for") {
  TwoRacks racks;
  Story& story = racks.story;
  core::MaintenanceWindow weekly = window(story, kOneMinute * 20, kOneMinute * 80);
  weekly.every = kOneMinute * 60 * 24 * 7;
  story.learn(core::MaintenanceAdded{weekly});
  pass(story, kOneMinute * 30);
  CHECK(racks.drain(racks.first));
  pass(story, kOneMinute * 60);
  CHECK_FALSE(racks.drain(racks.first));
  CHECK(story.state().maintenance.windows.at(1).from_us == weekly.from_us + weekly.every->count_us());
  // Three weeks without a daemon end in the middle of a window.
  story.pass(*weekly.every * 3 - kOneMinute * 50);
  story.learn(core::ClockAdvanced{});
  REQUIRE(racks.drain(racks.first));
  CHECK(story.state().maintenance.windows.at(1).from_us == weekly.from_us + 3 * weekly.every->count_us());
  CHECK(racks.drain(racks.first)->maintenance->begins == story.now() - kOneMinute * 20);
  CHECK(story.count("maintenance.ended") == 2);
}

TEST_CASE("an operator's drain, a notice and a window of one node come and go by themselves") {
  TwoRacks racks;
  Story& story = racks.story;
  racks.add(kOneMinute * 20, kOneMinute * 60);
  story.learn(core::NodeDrainRequested{racks.first, kOneMinute * 40, "a new disk"});
  pass(story, kOneMinute * 10);
  CHECK(racks.drain(racks.first)->deadline == story.now() + kOneMinute * 10);
  CHECK_FALSE(racks.drain(racks.first)->only_window());
  story.learn(core::NodeReclaimNoticed{racks.first, kOneMinute});
  CHECK(racks.drain(racks.first)->deadline == story.now() + kOneMinute);
  story.learn(core::NodeDrainCancelled{racks.first});  // ends the two others
  CHECK(racks.drain(racks.first)->deadline == story.now() + kOneMinute * 10);
  CHECK(racks.drain(racks.first)->only_window() == 1);
  story.learn(core::NodeDrainRequested{racks.first, kOneMinute * 40, "a new disk"});
  pass(story, kOneMinute * 50);
  REQUIRE(racks.drain(racks.first));
  CHECK_FALSE(racks.drain(racks.first)->maintenance);
  CHECK(racks.drain(racks.first)->reason == "a new disk");
  CHECK(story.count("node.undrained") == 0);
}

TEST_CASE("a node that is away, joins or is labelled during a window is out until the window ends") {
  TwoRacks racks;
  Story& story = racks.story;
  racks.add(kOneMinute * 5, kOneMinute * 60);
  REQUIRE(racks.drain(racks.first));
  story.learn(core::NodeLost{racks.first, "switched off"});
  pass(story, kOneMinute * 30);
  story.node(2, "a");
  CHECK(racks.drain(racks.first));
  story.learn(core::NodeLabelled{racks.second, {{"rack", "r1"}}});
  CHECK(racks.drain(racks.second));
  story.learn(core::NodeLabelled{racks.second, {{"rack", "r2"}}});
  CHECK_FALSE(racks.drain(racks.second));
  story.learn(core::NodeLost{racks.first, "switched off"});
  pass(story, kOneMinute * 30);
  story.node(2, "a");
  CHECK_FALSE(racks.drain(racks.first));
  CHECK(story.state().find_node(racks.first)->takes_workers());
}

TEST_CASE("a window whose lead has begun is due at once, and goes by UTC") {
  TwoRacks racks;
  Story& story = racks.story;
  racks.add(kOneMinute * 30, kOneMinute * 60);
  CHECK_FALSE(racks.drain(racks.first));
  story.learn(core::UtcSet{(kOneMinute * 25).count_us()});  // the clock was behind
  REQUIRE(racks.drain(racks.first));
  CHECK(racks.drain(racks.first)->deadline == story.now() + kOneMinute * 5);
  story.learn(core::UtcSet{0});
  CHECK_FALSE(racks.drain(racks.first));
}

TEST_CASE("windows that make no sense are refused") {
  TwoRacks racks;
  const Story& story = racks.story;
  const auto refused = [&](auto change) {
    core::MaintenanceWindow asked = window(story, kOneMinute, kOneMinute * 2);
    change(asked);
    return racks.story.refuses(core::MaintenanceAdded{asked});
  };
  CHECK(refused([](auto& asked) { asked.number = 7; }) == "the next window is mw-1");
  CHECK(refused([](auto& asked) { asked.to_us = asked.from_us; }) == "a maintenance window ends after it begins");
  CHECK(refused([](auto& asked) { asked.from_us = -10, asked.to_us = -5; }) == "that window has ended already");
  CHECK(refused([](auto& asked) { asked.every = Duration::seconds(59); }) ==
        "a maintenance window that comes again has ended before that: every is at least its length");
  CHECK(refused([](auto& asked) { asked.selector.clear(); }) ==
        "a maintenance window is of a node, or of those with a label");
}

TEST_CASE("windows outlive a restart, and drains of earlier versions are read with their causes") {
  TwoRacks racks;
  Story& story = racks.story;
  racks.add(kOneMinute * 5, kOneMinute * 60);
  racks.add(kOneMinute * 50, kOneMinute * 70);
  const auto read = core::state_from_json(core::to_json(story.state()));
  REQUIRE(read.ok());
  CHECK(core::digest_of(*read) == core::digest_of(story.state()));
  core::Engine again(plain_parts(std::make_shared<WishPolicy::Wishes>()), *read);
  CHECK(again.clock_due() == story.engine().clock_due());

  story.learn(core::MaintenanceRemoved{1});
  story.learn(core::MaintenanceRemoved{2});
  story.learn(core::NodeDrainRequested{racks.first, kOneMinute * 9, "a new disk"});
  story.learn(core::NodeDrainRequested{racks.second, kOneMinute * 9, ""});
  story.learn(core::NodeReclaimNoticed{racks.second, kOneMinute});
  auto before = core::to_json(story.state());
  for (auto& node : before.at("nodes")) {
    auto& drain = node.at("drain");
    if (drain.at("reclaim").is_object()) drain.at("reclaim")["asked"] = drain.at("asked");
    REQUIRE(drain.erase("asked") == 1);
    REQUIRE(drain.erase("maintenance") == 1);
  }
  const auto old = core::state_from_json(before);
  REQUIRE(old.ok());
  CHECK(core::digest_of(*old) == core::digest_of(story.state()));
}

}  // namespace tidepool::test
