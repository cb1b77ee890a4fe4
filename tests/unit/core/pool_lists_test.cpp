// What the lists of providers tell of nodes, and what it means that one lacks a node or does not come.
#include <catch2/catch.hpp>

#include <memory>

#include <nlohmann/json.hpp>

#include "core/codec/codec.hpp"
#include "core/facts/nodes/node_removal.hpp"
#include "core/facts/pool_facts.hpp"
#include "tests/support/pool_story.hpp"

namespace tidepool::test {

TEST_CASE(
    "that a bill runs on is told once a node is listed for longer than machines take to go, and before it is not") {
  for (const int lead : {30, 600}) {
    core::PoolSpec pool = gpu_pool();
    pool.lead_time = Duration::seconds(lead);
    PoolStory story({pool});
    story.submit({.min = 1, .max = 1});
    REQUIRE(story.plan().size() == 1);
    story.learn(core::PoolNodeCreateFailed{1, core::ProviderFault::kTimeout, "no answer"});
    story.learn(core::PoolNodeDeleted{1});
    const Instant ended = story.now();
    const Duration patience = Duration::seconds(std::max(180, lead));
    int times = 1;
    while (story.now() - ended < patience) {
      CHECK(story.count("pool.bill_runs_on") == 0);
      story.pass(Duration::seconds(15));
      story.lists({1});
      if (story.asked(1).delete_answered) continue;
      story.learn(core::PoolNodeDeleted{1});
      ++times;
    }
    for (int round = 0; round < 60 && story.count("pool.bill_runs_on") == 0; ++round) {
      story.pass(Duration::seconds(15));
      story.lists({1});
    }
    CHECK(story.last("pool.bill_runs_on").data["attempts"] == times);
    CHECK(story.now() - ended <= patience * 2);
  }
}

TEST_CASE("a list that fails is told as its back-off grows, and is a problem of the pool until one comes") {
  PoolStory story;
  const Instant first = story.now();
  const auto failed = [](const std::string& detail) {
    return core::PoolListFailed{"gpu", core::ProviderFault::kRefused, detail};
  };
  const auto is_news = [&] { return core::is_news(story.state(), failed("request 7"), story.now()); };
  const auto& pool = *story.state().pools.find("gpu");
  for (const int wait : {15, 30, 60}) {
    REQUIRE(is_news());
    story.learn(failed("after " + std::to_string(wait)));
    CHECK(pool.list_backoff.detail == "after " + std::to_string(wait));
    CHECK(pool.list_fails_since == first);
    story.pass(Duration::seconds(wait - 1));
    CHECK_FALSE(is_news());
    story.pass(Duration::seconds(1));
  }
  CHECK(story.count("pool.list_failed") == 3);
  REQUIRE(core::is_news(story.state(), story.list_of({}), story.now()));
  story.lists({});
  CHECK_FALSE(pool.list_fails_since);
  CHECK(pool.list_backoff == core::Backoff{});
  CHECK_FALSE(core::is_news(story.state(), story.list_of({}), story.now()));
}

TEST_CASE("a list that was begun before a node was forgotten makes no unknown node of it, and the next one does") {
  core::PoolSpec other = gpu_pool(0);
  other.name = "other";
  PoolStory story({gpu_pool(), other});
  story.submit({.min = 1, .max = 1});
  REQUIRE(story.plan().size() == 1);
  story.learn(core::PoolNodeCreateFailed{1, core::ProviderFault::kTimeout, "no answer"});
  story.pass(Duration::seconds(1));
  core::PoolListed late = story.list_of({1});  // of the other pool, whose provider has the nodes of both
  late.pool = "other";
  story.pass(Duration::seconds(1));
  story.learn(core::PoolNodeDeleted{1});
  story.lists({});
  REQUIRE(story.state().pools.find_node(1) == nullptr);
  CHECK_FALSE(core::is_news(story.state(), late, story.now()));
  story.learn(late);
  CHECK(story.count("pool.node_unknown") == 0);
  late.nodes.front().request = 7;  // of a number that this daemon has not given
  CHECK(core::is_news(story.state(), late, story.now()));
  story.pass(Duration::seconds(1));
  core::PoolListed next = story.list_of({1});
  REQUIRE(core::is_news(story.state(), next, story.now()));
  story.learn(next);
  CHECK(story.count("pool.node_unknown") == 1);
  CHECK(story.asked(1).state == core::PoolNodeState::kReleasing);
}

TEST_CASE("a list in a row of an earlier version tells that a bill runs on as that version did") {
  PoolStory story;
  story.submit({.min = 1, .max = 1});
  REQUIRE(story.plan().size() == 1);
  story.learn(core::PoolNodeCreateFailed{1, core::ProviderFault::kTimeout, "no answer"});
  story.learn(core::PoolNodeDeleted{1});
  story.pass(Duration::seconds(15));
  core::PoolListed before = story.list_of({1});
  before.begun_at.reset();
  story.learn(before);
  CHECK(story.count("pool.bill_runs_on") == 1);
}

TEST_CASE("a list that lacks nodes which may be there forgets none before its provider has said that it ends it") {
  PoolStory story;
  story.submit({.min = 3, .max = 3});
  REQUIRE(story.plan().size() == 2);
  for (const core::NodeRequest request : {1UL, 2UL}) story.learn(core::PoolNodeCreated{request, "i", {}});
  story.lists({});
  CHECK(story.asked(1).state == core::PoolNodeState::kCreated);  // it may not be listed yet
  story.pass(Duration::seconds(30));
  story.lists({2});
  CHECK(story.last("pool.create_failed").data["fault"] == "vanished");
  CHECK(story.asked(1).state == core::PoolNodeState::kReleasing);
  CHECK(core::is_news(story.state(), story.list_of({2}), story.now()));  // the answer may be on its way
  story.lists({2});
  CHECK(story.asked(1).name == "gpu-1");
  story.learn(core::PoolNodeDeleteFailed{1, core::ProviderFault::kTimeout, "no answer"});
  CHECK_FALSE(core::is_news(story.state(), story.list_of({2}), story.now()));
  story.lists({2});
  CHECK(story.asked(1).state == core::PoolNodeState::kReleasing);
  story.learn(core::PoolNodeDeleted{1});
  REQUIRE(core::is_news(story.state(), story.list_of({2}), story.now()));
  story.lists({2});
  CHECK(story.state().pools.find_node(1) == nullptr);
  // As an earlier version had it, with the same events.
  core::PoolListed before = story.list_of({});
  before.begun_at.reset();
  story.learn(before);
  CHECK(story.state().pools.nodes.empty());
  CHECK(story.last("pool.node_gone").data["why"] == "the provider no longer lists it");
}

TEST_CASE("a list that lacks a node whose agent is connected ends nothing") {
  PoolStory story;
  const JobId job = story.submit({.min = 1, .max = 1});
  REQUIRE(story.plan().size() == 1);
  story.joins(1);
  story.settle(job);
  story.lists({});
  CHECK(story.asked(1).state == core::PoolNodeState::kJoined);
  CHECK(story.job(job).membership.workers.size() == 1);
}

TEST_CASE("an end that a provider brings forward is news, empties the node, and moves a drain that has begun") {
  PoolStory story;
  const JobId job = story.submit({.min = 1, .max = 1});
  REQUIRE(story.plan().size() == 1);
  story.learn(core::PoolNodeCreated{1, "i-1", Duration::seconds(1000)});
  const NodeId node = story.node(2, "gpu-1");
  story.settle(job);
  story.pass(Duration::seconds(100));
  const Duration left = *story.asked(1).ends_at - story.now();
  const auto is_news = [&](Duration lifetime) {
    return core::is_news(story.state(), story.list_of({1}, lifetime), story.now());
  };
  CHECK_FALSE(is_news(left));
  CHECK_FALSE(is_news(left + Duration::seconds(9)));
  CHECK_FALSE(is_news(left - Duration::seconds(9)));
  CHECK(is_news(left + Duration::seconds(600)));
  REQUIRE(is_news(Duration::seconds(25)));
  story.learn(story.list_of({1}, Duration::seconds(25)));
  const auto said = story.plan();
  REQUIRE_FALSE(said.empty());
  CHECK_THAT(said.front(), Catch::StartsWith("gpu-1: emptied: its provider ends it in 25 s"));
  REQUIRE(story.asked(1).state == core::PoolNodeState::kDraining);
  CHECK(story.state().find_node(node)->drain->deadline == story.now() + Duration::seconds(20));
  REQUIRE(is_news(Duration::seconds(12)));
  story.learn(story.list_of({1}, Duration::seconds(12)));
  CHECK(story.state().find_node(node)->drain->deadline == story.now() + Duration::seconds(7));
  story.learn(story.list_of({1}, Duration::seconds(600)));
  CHECK(story.state().find_node(node)->drain->deadline == story.now() + Duration::seconds(7));
}

namespace {

// A node of the pool, on which a job has run.
struct UsedNode : PoolStory {
  UsedNode() {
    used_by = submit({.min = 1, .max = 1, .grace = Duration::seconds(5)});
    REQUIRE(plan().size() == 1);
    id = joins(1);
    settle(used_by);
  }
  // It holds nothing for a minute, and its provider is told to end it.
  void give_back() {
    pass(Duration::seconds(60));
    REQUIRE(plan().size() == 1);
    REQUIRE(asked(1).state == core::PoolNodeState::kReleasing);
    learn(core::PoolNodeDeleted{1});
  }
  // As the daemon learns it.
  void lose_agent() { learn(core::NodeLost{id, "no heartbeat", state().pools.gives_back(id)}); }
  [[nodiscard]] bool has_gone() const { return state().has_gone(*state().find_node(id)); }
  [[nodiscard]] std::vector<NodeId> removable() const { return core::removable_of_pools(state()); }

  JobId used_by;
  NodeId id;
};

}  // namespace

TEST_CASE("a node that was given back raises no alarm, and may leave the state once its provider lists it no more") {
  const bool is_lost_first = GENERATE(true, false);
  CAPTURE(is_lost_first);
  UsedNode story;
  story.learn(core::PricesConfigured{
      {{{.name = "all", .entries = {{.from_us = story.now().count_us(), .price = Money::micros(1'000'000)}}}}}});
  story.ends(story.used_by);
  story.give_back();
  if (is_lost_first) story.lose_agent();
  CHECK(story.has_gone() == is_lost_first);
  CHECK(story.removable().empty());
  story.lists({});
  REQUIRE(story.state().pools.find_node(1) == nullptr);
  if (!is_lost_first) {
    CHECK(story.removable().empty());
    story.lose_agent();
  }
  CHECK(story.has_gone());
  CHECK(story.state().prices->nodes.empty());
  CHECK(story.count("node.lost") == 0);
  CHECK(story.removable() == std::vector{story.id});
  story.learn(core::NodeRemoved{story.id});
  CHECK(story.state().nodes.empty());
  CHECK(story.state().pools.gone.empty());
}

TEST_CASE("a node that is lost while its pool counts on it is told, and gone once its provider lists it no more") {
  UsedNode story;
  story.lose_agent();
  CHECK(story.count("node.lost") == 1);
  CHECK_FALSE(story.has_gone());
  story.lists({});
  CHECK(story.has_gone());
  CHECK(story.removable() == std::vector{story.id});
}

TEST_CASE("a lost node of which an earlier version did not note that its pool gave it back leaves by the command") {
  UsedNode story;
  story.ends(story.used_by);
  story.give_back();
  story.lists({});
  story.lose_agent();
  auto earlier = core::to_json(story.state());
  REQUIRE(earlier.at("pools").erase("gone") == 1);
  const auto read = core::state_from_json(earlier);
  REQUIRE(read.ok());
  CHECK(core::removable_of_pools(*read).empty());
  core::Engine engine(plain_parts(std::make_shared<WishPolicy::Wishes>()), *read);
  REQUIRE(engine.step({story.now(), core::NodeRemoved{story.id}}).ok());
  CHECK(engine.view().nodes.empty());
}

TEST_CASE("a node that was given back is there for a job that would go on from its state, and for an agent") {
  UsedNode story;
  story.steps(story.used_by, 100);
  story.park(story.used_by);
  story.give_back();
  story.lists({});
  story.lose_agent();
  CHECK(story.has_gone());
  CHECK(story.removable().empty());
  SECTION("the job ends") {
    story.learn(core::JobCancelRequested{story.used_by});
    story.decide();
    CHECK(story.removable() == std::vector{story.id});
  }
  SECTION("an agent of its name joins") {
    REQUIRE(story.node(2, "gpu-1") == story.id);
    CHECK_FALSE(story.has_gone());
    CHECK(story.state().pools.gone.empty());
    story.lose_agent();
    CHECK(story.count("node.lost") == 1);
  }
}

}  // namespace tidepool::test
