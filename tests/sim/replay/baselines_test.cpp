// Baselines whose authors' search is random, or that were published under other rules: near the published averages, and
// the same every time.
#include <catch2/catch.hpp>

#include "studies/sim_run.hpp"
#include "tests/sim/replay/data_or_skip.hpp"

namespace tidepool::sim {
namespace {

// The authors' own averages at load 1.0 (artifact of Qiao et al., OSDI 2021).
constexpr double kPolluxOnWorkload6 = 2446.13125;
constexpr double kPolluxOnWorkload3 = 2188.49375;

Scoreboard replay_of(const std::filesystem::path& data, const std::string& policy, const std::string& workload) {
  SimOptions options{.workload = workload, .cluster = "16x4", .policy = policy, .simulator = "pollux"};
  options.profiles = test::read_profiles(data / "traces");
  options.workload_csv = test::read_file(data / "workloads" / (workload + ".csv"));
  const auto report = run(options);
  INFO((report.ok() ? "" : report.error().message));
  REQUIRE(report.ok());
  CHECK(report->score.completed == 160);
  return report->score;
}

}  // namespace

TEST_CASE("pollux: the average completion time is within 3 % of the published one") {
  const auto data = test::data_or_skip("pollux_osdi21");
  if (!data) return;
  CHECK(replay_of(*data, "pollux", "workload-6").avg_jct_s == Approx(kPolluxOnWorkload6).epsilon(0.03));
  CHECK(replay_of(*data, "pollux", "workload-3").avg_jct_s == Approx(kPolluxOnWorkload3).epsilon(0.03));
}

TEST_CASE("sia: on nodes that are alike within 5 % of Pollux, as published, and the same twice") {
  const auto data = test::data_or_skip("pollux_osdi21");
  if (!data) return;
  const Scoreboard first = replay_of(*data, "sia", "workload-3");
  CHECK(first.avg_jct_s == Approx(kPolluxOnWorkload3).epsilon(0.05));
  CHECK(replay_of(*data, "sia", "workload-3").digest == first.digest);
}

}  // namespace tidepool::sim
