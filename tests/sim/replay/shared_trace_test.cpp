// A recorded workload in a pool that tenants share: each is served about as soon as on its own part, and all together
// sooner; one tenant that has everything is served as if there were none. tools/bench sharing has the larger traces.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "studies/sim_run.hpp"
#include "studies/traces/importers.hpp"
#include "tests/sim/replay/data_or_skip.hpp"

namespace tidepool::sim {
namespace {

namespace fs = std::filesystem;

// The last jobs of the trace as jobs of 1 to 8 GPUs, without deadlines.
SimOptions elastic_jobs(Trace trace, std::size_t last, const std::string& name, const std::string& cluster) {
  const auto skipped = static_cast<std::ptrdiff_t>(trace.jobs.size() - std::min(last, trace.jobs.size()));
  trace.jobs.erase(trace.jobs.begin(), trace.jobs.begin() + skipped);
  for (TraceJob& job : trace.jobs) job.deadline_s.reset();
  SimOptions options{.workload = name, .cluster = cluster, .elastic_max = 8};
  options.workload_csv = write_trace_csv(trace.jobs);
  options.restart_penalty = Duration::seconds(30);
  options.switch_stall = Duration::seconds(2);
  return options;
}

Sharing shared(SimOptions options, int tenants, const std::string& dealt_by) {
  options.split = tenants;
  options.deal = dealt_by;
  options.alone = true;
  const auto report = run(options);
  if (!report) FAIL(report.error().message);
  REQUIRE(report->score.completed == report->score.jobs);
  for (const TenantTimes& tenant : report->sharing->tenants) {
    std::printf("%s: %s of %d: %.0f s, alone %.0f s\n", options.workload.c_str(), tenant.tenant.c_str(), tenants,
                tenant.avg_jct_s.value_or(0), tenant.alone_jct_s.value_or(0));
  }
  std::printf("%s: %d tenants: %.3f of alone, worst %.3f\n", options.workload.c_str(), tenants,
              *report->sharing->jobs_ratio, *report->sharing->worst_ratio);
  return *report->sharing;
}

void has_all(SimOptions options) {
  const auto none = run(options);
  options.split = 1;
  const auto one = run(options);
  REQUIRE(none.ok());
  REQUIRE(one.ok());
  std::printf("%s: one tenant %.0f s, none %.0f s\n", options.workload.c_str(), one->score.avg_jct_s,
              none->score.avg_jct_s);
  CHECK(one->score.avg_jct_s <= 1.03 * none->score.avg_jct_s);
}

}  // namespace

TEST_CASE("jobs of a small trace that tenants share") {
  const char* source = std::getenv("TIDEPOOL_SOURCE_DIR");
  const auto file =
      fs::path(source == nullptr ? "." : source) / "tests" / "data" / "replay" / "elasticflow" / "jobs.csv";
  const std::string text = test::read_file(file);
  const auto trace = import_elasticflow({.text = text, .file = "jobs.csv"});
  REQUIRE(trace.ok());
  const SimOptions options = elastic_jobs(*trace, 100, "jobs.csv", "2x4");
  const Sharing sharing = shared(options, 4, "job");
  CHECK(*sharing.worst_ratio <= 1.05);
  CHECK(*sharing.jobs_ratio <= 0.95);
  has_all(options);
}

TEST_CASE("jobs of a public trace that tenants share, whose peaks are apart") {
  const auto openb = test::data_or_skip("openb_fgd");
  if (!openb) return;
  const std::string text = test::read_file(*openb / "openb_pod_list_default.csv");
  const auto trace = import_openb({.text = text, .file = "openb"});
  REQUIRE(trace.ok());
  const SimOptions options = elastic_jobs(*trace, 500, "openb", "2x8");
  const Sharing sharing = shared(options, 4, "hour");
  CHECK(*sharing.worst_ratio <= 1.05);
  CHECK(*sharing.jobs_ratio <= 0.7);
  has_all(options);
}

}  // namespace tidepool::sim
