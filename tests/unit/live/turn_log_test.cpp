// What of a turn becomes a line of the daemon's log.
#include "schedulerd/live/turn_log.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

namespace tidepool::live {
namespace {

class TurnLines final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::vector<std::string> lines;

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    lines.emplace_back(message.payload.data(), message.payload.size());
  }
  void flush_() override {}
};

std::vector<std::string> logged(const std::string& type, const nlohmann::json& data,
                                std::optional<NodeId> node = std::nullopt, const std::string& actor = "") {
  const auto before = spdlog::default_logger();
  const auto told = std::make_shared<TurnLines>();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", told));
  core::Event event{.type = type, .node = node, .data = data, .actor = actor};
  log_event(event);
  spdlog::set_default_logger(before);
  return told->lines;
}

TEST_CASE("what may cost money unseen is a warning that says what to do") {
  const auto lines = logged("pool.bill_runs_on", {{"pool", "gpu"}, {"name", "gpu-1"}, {"attempts", 4}}, NodeId(7));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] ==
        "event=pool_bill_runs_on node=node-7 attempts=4 name=\"gpu-1\" pool=\"gpu\" "
        "next=\"it costs money: find out why its provider does not end it, or end it by hand\"");
  CHECK(logged("pool.node_unknown", {{"pool", "gpu"}, {"provider_id", "i-9"}}).size() == 1);
}

TEST_CASE("a node that is unsteady or taken back is a warning") {
  const auto lines = logged("node.unsteady", {{"name", "a"}, {"losses", 3}, {"why", "says \"x\""}}, NodeId(1));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].starts_with("event=node_unsteady node=node-1 losses=3 name=\"a\" why=\"says \\\"x\\\"\" next="));
  CHECK(logged("node.reclaim_notice", {{"name", "a"}, {"seconds", 90}}).size() == 1);
}

TEST_CASE("a policy that gave way by itself is a warning, one that an operator rolled back is none") {
  const nlohmann::json data = {{"policy", "mine"}, {"to", nullptr}, {"why", "3 rounds in a row have failed"}};
  const auto lines = logged("policy.rolled_back", data);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].starts_with(
      "event=policy_rolled_back policy=\"mine\" why=\"3 rounds in a row have failed\" next=\"see what failed: "));
  CHECK(logged("policy.rolled_back", data, std::nullopt, "t-1").empty());
}

TEST_CASE("of what pools do only that is a warning which no other line tells") {
  CHECK(logged("pool.create_failed", {{"fault", "too_few_slots"}}).size() == 1);
  CHECK(logged("pool.create_failed", {{"fault", "quota"}}).empty());  // event=node_create_failed
  CHECK(logged("pool.node_released", {{"reason", {{"code", "NodeNeverJoined"}}}}).size() == 1);
  CHECK(logged("pool.node_released", {{"reason", {{"code", "NodeIdle"}}}}).empty());
  CHECK(logged("job.submitted", {{"name", "a"}}).empty());
}

}  // namespace
}  // namespace tidepool::live
