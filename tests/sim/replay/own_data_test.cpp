// The replays on small workloads and profiles of our own (tests/data/replay, invented numbers), so that their code is
// tested where no published data is. What came of each policy is compared line by line with
// tests/data/replay/figures.txt; TIDEPOOL_REWRITE=1 writes it anew.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <string>

#include "studies/sim_run.hpp"
#include "studies/traces/importers.hpp"
#include "tests/sim/replay/published_data.hpp"

namespace tidepool::sim {
namespace {

namespace fs = std::filesystem;

fs::path own_data() {
  const char* source = std::getenv("TIDEPOOL_SOURCE_DIR");
  return fs::path(source == nullptr ? "." : source) / "tests" / "data" / "replay";
}

SimOptions pollux_options() {
  SimOptions options{.workload = "jobs.csv", .cluster = "3x4", .simulator = "pollux"};
  options.workload_csv = test::read_file(own_data() / "pollux" / "jobs.csv");
  options.profiles = test::read_profiles(own_data() / "pollux" / "profiles");
  return options;
}

SimOptions elasticflow_options() {
  SimOptions options{.workload = "jobs.csv", .cluster = "3x4", .simulator = "elasticflow"};
  options.workload_csv = test::read_file(own_data() / "elasticflow" / "jobs.csv");
  for (const auto& file : fs::directory_iterator(own_data() / "elasticflow" / "speeds")) {
    options.profile_files[file.path().filename()] = test::read_file(file.path());
  }
  return options;
}

SimOptions gavel_options() {
  SimOptions options{.workload = "jobs.trace", .cluster = "6x1:swift,6x1:steady", .simulator = "gavel"};
  options.workload_csv = test::read_file(own_data() / "gavel" / "jobs.trace");
  options.profile_files["speeds.json"] = test::read_file(own_data() / "gavel" / "speeds.json");
  return options;
}

// "pollux tiresias: 16 of 16 completed, average 625.000 s, makespan 1973.000 s, 0 resizes, 0 deadlines met"
std::string figures_of(SimOptions options, const std::string& policy) {
  options.policy = policy;
  const auto report = run(options);
  INFO(options.simulator << " " << policy << (report.ok() ? "" : ": " + report.error().message));
  REQUIRE(report.ok());
  const auto again = run(options);
  REQUIRE(again.ok());
  CHECK(report->score.digest == again->score.digest);
  const Scoreboard& score = report->score;
  const auto fixed = [](double seconds) {
    const std::string text = std::to_string(seconds);
    return text.substr(0, text.size() - 3);
  };
  return options.simulator + " " + policy + ": " + std::to_string(score.completed) + " of " +
         std::to_string(score.jobs) + " completed, average " + fixed(score.avg_jct_s) + " s, makespan " +
         fixed(score.makespan_s) + " s, " + std::to_string(score.resizes) + " resizes, " +
         std::to_string(score.deadlines_met) + " deadlines met\n";
}

}  // namespace

TEST_CASE("replays of invented measurements give the figures that were written down") {
  std::string figures;
  for (const char* policy : {"afs", "cluster_autoscaling", "elastic_tiresias", "ffdl", "optimus", "pollux", "sia",
                             "srtf", "themis", "tidal", "tiresias"}) {
    figures += figures_of(pollux_options(), policy);
  }
  for (const char* policy : {"edf", "elasticflow", "gandiva", "tidal", "tiresias_dlas"}) {
    figures += figures_of(elasticflow_options(), policy);
  }
  for (const char* policy : {"afs", "fifo", "gandiva", "gavel_ftf", "gavel_las", "gavel_las_perf", "gavel_max_sum",
                             "optimus", "sia", "tidal"}) {
    figures += figures_of(gavel_options(), policy);
  }
  const fs::path file = own_data() / "figures.txt";
  if (std::getenv("TIDEPOOL_REWRITE") != nullptr) std::ofstream(file) << figures;
  INFO("after a wanted change, run this test with TIDEPOOL_REWRITE=1 and review the difference");
  CHECK(figures == test::read_file(file));
}

TEST_CASE("the jobs of each replay can be imported as a trace") {
  const auto imported = [](const char* format, const std::string& text, const std::string& speeds) {
    const auto found = find_trace_format(format);
    REQUIRE(found.ok());
    const auto trace = found->read({.text = text, .file = "jobs", .speeds = speeds, .gpu_type = "swift"});
    INFO(format << (trace.ok() ? "" : ": " + trace.error().message));
    REQUIRE(trace.ok());
    const auto again = read_trace_csv({.text = write_trace_csv(trace->jobs), .file = "again"});
    REQUIRE(again.ok());
    CHECK(again->jobs == trace->jobs);
    return trace->jobs;
  };
  const auto elasticflow = imported("elasticflow", *elasticflow_options().workload_csv, "");
  CHECK(elasticflow.size() == 16);
  CHECK(elasticflow.front().submit_s == 0);
  CHECK(elasticflow.front().deadline_s.has_value());
  const auto gavel = imported("gavel", *gavel_options().workload_csv, gavel_options().profile_files.at("speeds.json"));
  CHECK(gavel.size() == 16);
}

}  // namespace tidepool::sim
