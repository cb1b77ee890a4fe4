// What a frontier of rules for nodes is made of its points.
#include "schedctl/studies/frontier.hpp"

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

using namespace tidepool;
using namespace tidepool::ctl;

namespace {

FrontierPoint point(const char* rule, const char* setting, double jct, double hours) {
  return {.rule = rule, .setting = setting, .avg_jct_s = jct, .node_hours = hours, .cost = hours * 8};
}

Frontier three_rules() {
  return {
      .workload = "week.csv",
      .policy = "tidal",
      .cluster = "slots=8,max=4",
      .jobs = 10,
      .seeds = {1},
      .command = "schedctl sim frontier",
      .points = {point(kFixedRule, "2 nodes", 300, 100), point(kThresholdRule, "wait 0s, idle 1m", 100, 90),
                 point(kThresholdRule, "wait 0s, idle 5m", 110, 95), point(kThresholdRule, "wait 1m, idle 1m", 200, 60),
                 point(kBuiltInRule, "worth 1.5, idle 1m", 200, 40), point(kBuiltInRule, "worth 3, idle 1m", 100, 80)}};
}

}  // namespace

TEST_CASE("the best points of a rule are those that none other of it beats in both, and a failed run is none") {
  Frontier frontier = three_rules();
  auto best = best_points(frontier, kThresholdRule);
  REQUIRE(best.size() == 2);
  CHECK(best[0].setting == "wait 0s, idle 1m");
  CHECK(best[1].setting == "wait 1m, idle 1m");
  frontier.points[1].complaint = "not every job completed";
  CHECK(best_points(frontier, kThresholdRule).front().setting == "wait 0s, idle 5m");
}

TEST_CASE("node hours at a completion time lie between the best points, and are not told where no point is so quick") {
  const auto best = best_points(three_rules(), kBuiltInRule);
  CHECK(node_hours_at(best, 150).value() == Approx(60));
  CHECK(node_hours_at(best, 100).value() == Approx(80));
  CHECK(node_hours_at(best, 1'000).value() == Approx(40));
  CHECK_FALSE(node_hours_at(best, 99));
  CHECK_FALSE(node_hours_at({}, 100));
}

TEST_CASE("the saving is told at each best point of the threshold rule, in the text, the figures and the rows") {
  const auto savings = savings_of(three_rules());
  REQUIRE(savings.size() == 2);
  CHECK(savings[0].share() == Approx(1 - 80.0 / 90));
  CHECK(savings[1].share() == Approx(1 - 40.0 / 60));
  const std::string text = frontier_text(three_rules(), {});
  CHECK(text.find("22.2 % fewer node hours on average, 11.1 %") != std::string::npos);
  CHECK(text.find("95 ") != std::string::npos);
  const auto json = frontier_json(three_rules());
  CHECK(json["points"].size() == 6);
  CHECK(json["points"][2]["best"] == false);
  CHECK(json["savings"][1]["built_in_hours"] == 40.0);
  CHECK(frontier_csv(three_rules()).starts_with("rule,setting,avg_jct_s"));
  CHECK(frontier_csv(three_rules()).find("threshold,\"wait 0s, idle 1m\",100.0") != std::string::npos);
}
