// What a daemon refuses of its pools when it starts.
#include "schedulerd/live/daemon_pools.hpp"

#include <chrono>
#include <memory>

#include <catch2/catch.hpp>

#include "tests/support/cluster_builders.hpp"

namespace tidepool::live {
namespace {

PoolConfig cloud() {
  PoolConfig config;
  config.name = "gpu";
  config.provider = "exec";
  config.command = {"python3", "cloud.py"};
  config.settings = {{"region", "north"}};
  config.min = config.max = 2;
  return config;
}

// What a daemon that ran with it has left.
core::NodePools left_by(const PoolConfig& config, int nodes) {
  test::Story story;
  core::PoolSpec spec{.name = config.name, .min = nodes, .max = 2};
  spec.made_by = maker_of(config);
  story.learn(core::PoolsConfigured{1, {spec}});
  story.decide();
  REQUIRE(story.state().pools.count("gpu") == nodes);
  return story.state().pools;
}

}  // namespace

TEST_CASE("a pool that has nodes keeps the provider and the command that made them") {
  const core::NodePools known = left_by(cloud(), 2);
  CHECK(check_makers({.pools = {cloud()}}, known).ok());
  PoolConfig region = cloud();
  region.settings["region"] = "south";
  PoolConfig command = cloud();
  command.command.emplace_back("--south");
  PoolConfig provider = cloud();
  provider.provider = "slurm";
  CHECK(check_makers({.pools = {region}}, known).ok());
  for (const PoolConfig& changed : {command, provider}) {
    const Status refused = check_makers({.pools = {changed}}, known);
    REQUIRE_FALSE(refused.ok());
    CHECK_THAT(refused.error().message,
               Catch::Contains("pool gpu has 2 nodes that another provider or command has made"));
    CHECK(check_makers({.pools = {changed}}, left_by(cloud(), 0)).ok());
    PoolConfig beside = changed;
    beside.name = "south";
    CHECK(check_makers({.pools = {cloud(), beside}}, known).ok());
  }
  PoolConfig emptied = cloud();
  emptied.min = emptied.max = 0;
  CHECK(check_makers({.pools = {emptied}}, known).ok());
}

TEST_CASE("of nodes of an earlier version it is not known what has made them, and the daemon starts") {
  core::NodePools known = left_by(cloud(), 2);
  known.pools.at("gpu").spec.made_by.clear();
  PoolConfig changed = cloud();
  changed.settings["region"] = "south";
  CHECK(check_makers({.pools = {changed}}, known).ok());
}

TEST_CASE("a daemon whose pool has changed hands takes in nothing, and one that has not tells what makes its nodes") {
  Publisher publisher;
  Inbox inbox{10};
  auto picture = std::make_shared<Published>();
  picture->state.pools = left_by(cloud(), 1);
  publisher.publish(picture);
  PoolConfig changed = cloud();
  changed.command.emplace_back("--south");
  DaemonPools refused;
  CHECK_FALSE(refused.prepare({.pools = {changed}}, "c", publisher, inbox).ok());
  CHECK(inbox.take(10, std::chrono::microseconds(0)).empty());
  DaemonPools pools;
  REQUIRE(pools.prepare({.pools = {cloud()}}, "c", publisher, inbox).ok());
  const auto taken = inbox.take(10, std::chrono::microseconds(0));
  REQUIRE(taken.size() == 1);
  const auto& report = std::get<PoolReportItem>(taken.front()).report;
  CHECK(std::get<core::PoolsConfigured>(report).pools.front().made_by == maker_of(cloud()));
}

}  // namespace tidepool::live
