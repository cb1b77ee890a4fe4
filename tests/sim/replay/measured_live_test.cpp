// The live simulator on measured programs, with profiles and a workload of our own (tests/data/replay, invented
// numbers), and on Pollux's where they are.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "studies/replay/epoch_training.hpp"
#include "studies/replay/pollux/measured_program.hpp"
#include "studies/replay/pollux/pollux_workload.hpp"
#include "studies/sim_run.hpp"
#include "tests/sim/replay/data_or_skip.hpp"

namespace tidepool::sim {
namespace {

namespace fs = std::filesystem;

fs::path own_data() {
  const char* source = std::getenv("TIDEPOOL_SOURCE_DIR");
  return fs::path(source == nullptr ? "." : source) / "tests" / "data" / "replay" / "pollux";
}

SimOptions own_options() {
  SimOptions options{.workload = "jobs.csv", .cluster = "3x4", .policy = "tidal"};
  options.workload_csv = test::read_file(own_data() / "jobs.csv");
  options.profiles = test::read_profiles(own_data() / "profiles");
  options.restart_penalty = Duration::seconds(30);
  return options;
}

SimReport report_of(const SimOptions& options) {
  auto report = run(options);
  INFO((report.ok() ? "" : report.error().message));
  REQUIRE(report.ok());
  REQUIRE(report->trouble.empty());
  return *std::move(report);
}

std::string error_of(const SimOptions& options) {
  const auto report = run(options);
  REQUIRE_FALSE(report.ok());
  return report.error().message;
}

MeasuredApplication glyphs() {
  auto read = MeasuredApplication::read("glyphs", test::read_profiles(own_data() / "profiles").at("glyphs"), 0);
  REQUIRE(read.ok());
  return *std::move(read);
}

// Seconds from the first step to the end, with workers that lie so throughout.
double seconds_of(MeasuredProgram& program, const std::vector<int>& workers) {
  double seconds = 0;
  while (!program.is_done()) {
    const Program::Stretch stretch = program.go_on(workers);
    const std::int64_t steps = std::min<std::int64_t>(stretch.steps, 100);
    program.commit(steps);
    seconds += stretch.step_s * static_cast<double>(steps);
  }
  return seconds;
}

}  // namespace

TEST_CASE("all measured jobs end in the live simulator, and the same options give the same run") {
  const SimOptions options = own_options();
  const SimReport report = report_of(options);
  CHECK(report.score.completed == report.score.jobs);
  CHECK(report.score.jobs == 16);
  CHECK(report.score.digest == report_of(options).score.digest);
  // Its jobs did get slots and took several sizes; nothing is quicker than the start that each of them owes.
  CHECK(report.score.resizes > 0);
  for (const JobResult& row : report.rows) CHECK(*row.started_s - row.submitted_s >= 30);
}

TEST_CASE("a measured program ends with what its epochs were measured to take, and counts samples by what they teach") {
  const MeasuredApplication application = glyphs();
  MeasuredProgram program({.application = application, .slots_per_node = 4});
  const double seconds = seconds_of(program, {1});
  const double useful = application.progress_after(application.epochs());
  CHECK(program.samples_taught() == std::llround(useful * application.initial_batch()));
  // A batch teaches at most as much as its samples would alone, one after the other, at the fastest measured pace.
  const auto one = application.profile().step_time({1}, application.local_batch_max());
  REQUIRE(one.has_value());
  CHECK(seconds > 0.5 * useful * application.initial_batch() / application.local_batch_max() * one->step_s);
}

TEST_CASE("no part of a step of a measured program is lost at the end of an epoch") {
  const auto profiles = test::read_profiles(own_data() / "profiles");
  const ClusterShape node{.nodes = 1, .slots_per_node = 4};
  PolluxMeasurements measurements(profiles, node);
  const MeasuredApplication application = glyphs();
  const int batch = application.batch_max();
  const FixedBatchTraining in_parts(
      {.application = application, .oracle = measurements.oracle(application, batch), .batch = batch});
  MeasuredProgram program({.application = application, .fixed_batch = batch, .slots_per_node = 4});
  const double step_s = program.go_on({1}).step_s;
  const double needed_s = in_parts.alone_seconds(1);
  REQUIRE(needed_s > 100 * step_s);
  CHECK(std::abs(seconds_of(program, {1}) - needed_s) < 2 * step_s);
}

TEST_CASE("a measured program looks for a better batch while an epoch goes on") {
  const MeasuredApplication application = glyphs();
  MeasuredProgram program({.application = application, .slots_per_node = 4});
  while (!program.is_done()) {
    const Program::Stretch stretch = program.go_on({1});
    CHECK(stretch.step_s * static_cast<double>(stretch.steps - 1) < kBatchKeptSeconds);
    program.commit(stretch.steps);
  }
}

TEST_CASE("a measured program is slower where its workers lie on more nodes, unless it is taken as packed") {
  const MeasuredApplication application = glyphs();
  const auto seconds = [&](const std::vector<int>& workers, bool as_packed) {
    MeasuredProgram program({.application = application, .slots_per_node = 4, .as_packed = as_packed});
    return seconds_of(program, workers);
  };
  const double packed = seconds({4}, false);
  CHECK(seconds({2, 2}, false) > 1.01 * packed);
  CHECK(seconds({2, 2}, true) == packed);
  CHECK(seconds({1}, false) > 1.2 * packed);
}

TEST_CASE("a measured program with more workers takes a larger batch, and one of a fixed batch does not") {
  const MeasuredApplication application = glyphs();
  MeasuredProgram chooses({.application = application, .slots_per_node = 4});
  const std::int64_t alone = chooses.go_on({1}).batch;
  chooses.commit(1);
  (void)chooses.go_on({4, 4});
  chooses.commit(1);
  CHECK(alone == application.initial_batch());
  CHECK(chooses.go_on({4, 4}).batch > alone);
  MeasuredProgram fixed({.application = application, .fixed_batch = 64, .slots_per_node = 4});
  CHECK(fixed.go_on({1}).batch == 64);
  CHECK(fixed.go_on({4}).batch == 64);
}

TEST_CASE("a restart that takes longer makes measured jobs take longer") {
  SimOptions options = own_options();
  const double slow = report_of(options).score.avg_jct_s;
  options.restart_penalty = Duration::seconds(1);
  CHECK(report_of(options).score.avg_jct_s < slow - 10);
}

TEST_CASE("a measured workload that cannot be run says why") {
  SimOptions options = own_options();
  options.profiles.erase("verses");
  CHECK(error_of(options).find("no application called \"verses\"") != std::string::npos);
  options = own_options();
  options.profiles.at("verses").erase("placements.csv");
  CHECK(error_of(options).find("verses has no placements.csv") != std::string::npos);
  options = own_options();
  options.workload_csv = "name,time\na,0\n";
  CHECK(error_of(options).find("application") != std::string::npos);
  options = own_options();
  options.workload_csv.reset();
  options.workload = "generated";
  CHECK(error_of(options).find("--workload FILE.csv") != std::string::npos);
  options = own_options();
  options.cluster = "2x4:fast,1x4:slow";
  CHECK(error_of(options).find("nodes that are alike") != std::string::npos);
}

TEST_CASE(
    "on Pollux's workload-6 the daemon's own engine is ahead of the authors' Pollux, and no job falls far behind") {
  const auto data = test::data_or_skip("pollux_osdi21");
  if (!data) return;
  SimOptions options{.workload = "workload-6.csv", .cluster = "16x4", .policy = "tidal"};
  options.workload_csv = test::read_file(*data / "workloads" / options.workload);
  options.profiles = test::read_profiles(*data / "traces");
  options.restart_penalty = Duration::seconds(1);
  const SimReport report = report_of(options);
  CHECK(report.score.completed == 160);
  CHECK(report.score.avg_jct_s < 0.75 * 2446.13);
  CHECK(report.score.ftf_worst < 1.5);
  options.restart_penalty = Duration::seconds(30);
  CHECK(report_of(options).score.avg_jct_s < 0.86 * 2446.13);
}

}  // namespace tidepool::sim
