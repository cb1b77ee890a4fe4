// tidal under the rules of Gavel and of ElasticFlow, beside their own policies in the same run, with some slack; and
// the bounds that no policy can pass. The exact figures are in docs/fidelity.md.
#include <catch2/catch.hpp>

#include <string>

#include "studies/replay/elasticflow/deadline_bound.hpp"
#include "studies/sim_run.hpp"
#include "tests/sim/replay/data_or_skip.hpp"
#include "tests/sim/replay/gavel_options.hpp"

namespace tidepool::sim {
namespace {

Scoreboard score_of(const SimOptions& options) {
  const auto report = run(options);
  INFO((report.ok() ? "" : report.error().message));
  REQUIRE(report.ok());
  return report->score;
}

}  // namespace

TEST_CASE("on Gavel's cluster of three types tidal is ahead of las_perf and of max_sum, told how much is left or not") {
  const auto data = test::data_or_skip("gavel");
  if (!data) return;
  SimOptions options = gavel_options(*data, "max_min_fairness.trace");
  options.policy = "gavel_las_perf";
  const Scoreboard las_perf = score_of(options);
  options.policy = "gavel_max_sum";
  const Scoreboard max_sum = score_of(options);
  options.policy = "tidal";
  const Scoreboard blind = score_of(options);
  options.declared_work = true;
  const Scoreboard declared = score_of(options);
  CHECK(las_perf.avg_jct_s < max_sum.avg_jct_s);
  CHECK(blind.completed == 96);
  CHECK(blind.avg_jct_s < 0.94 * las_perf.avg_jct_s);
  CHECK(declared.completed == 96);
  CHECK(declared.avg_jct_s < 0.9 * las_perf.avg_jct_s);
  // A bound that no policy passes, and a market that comes near its own.
  CHECK(declared.jct_bound_s.value() > 0);
  CHECK(declared.jct_bound_s.value() < declared.avg_jct_s);
  CHECK(declared.gap_p50.value() < 0.05);
}

TEST_CASE("on a trace of twenty jobs and three types tidal, told nothing, is not behind sia") {
  const auto data = test::data_or_skip("gavel");
  if (!data) return;
  SimOptions options = gavel_options(*data, "medium_test.trace");
  options.policy = "sia";
  const Scoreboard sia = score_of(options);
  options.policy = "tidal";
  const Scoreboard tidal = score_of(options);
  CHECK(tidal.completed == 20);
  CHECK(tidal.avg_jct_s <= sia.avg_jct_s);
}

TEST_CASE("on ElasticFlow's jobs tidal meets at least as many deadlines as elasticflow, and keeps what it accepts") {
  const auto data = test::data_or_skip("elasticflow");
  if (!data) return;
  SimOptions options{.workload = "elasticVpollux_e.csv", .cluster = "16x4", .simulator = "elasticflow"};
  options.workload_csv = test::read_file(*data / "traces" / options.workload);
  for (const auto& file : std::filesystem::directory_iterator(*data / "throughputs_T4")) {
    options.profile_files[file.path().filename()] = test::read_file(file.path());
  }
  options.declared_work = true;
  options.policy = "elasticflow";
  const Scoreboard elasticflow = score_of(options);
  options.policy = "tidal";
  const Scoreboard tidal = score_of(options);
  CHECK(tidal.deadlines == 195);
  CHECK(tidal.deadlines_met >= elasticflow.deadlines_met);
  CHECK(tidal.deadlines_met >= 152);  // ahead of the published 142
  CHECK(tidal.deadlines_met <= tidal.deadlines_bound);
  // Of those it did not decline, few are late.
  CHECK(tidal.completed - tidal.deadlines_met <= tidal.completed / 20);
}

TEST_CASE("no policy meets more deadlines than the bound says: by load, by a job's own pace, from either end") {
  // One slot: of three jobs of 100 s due after 200 s two can end in time.
  const DueJob job{.submitted_s = 0, .due_s = 200, .seconds = 100, .slot_seconds = 100};
  CHECK(most_in_time({job, job, job}, 1) == 2);
  CHECK(most_in_time({job, job, job}, 2) == 3);
  // The large one is left out.
  const DueJob large{.submitted_s = 0, .due_s = 150, .seconds = 150, .slot_seconds = 150};
  CHECK(most_in_time({large, job, job}, 1) == 2);
  // Not even alone.
  CHECK(most_in_time({{.submitted_s = 0, .due_s = 50, .seconds = 100, .slot_seconds = 1}}, 64) == 0);
  // All have time from the first one's start, but not from their own.
  const DueJob late{.submitted_s = 900, .due_s = 1'000, .seconds = 100, .slot_seconds = 100};
  const DueJob early{.submitted_s = 0, .due_s = 1'000, .seconds = 1, .slot_seconds = 1};
  CHECK(most_in_time({early, late, late, late}, 1) == 2);
  CHECK(most_in_time({}, 4) == 0);
}

}  // namespace tidepool::sim
