// How good forecasts are on whole runs: on a drawn workload and a trace of our own, and on public traces where they
// are. Held against what happened, with the intervals that a daemon would have told then (studies/forecasts).
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "studies/sim_run.hpp"
#include "studies/traces/importers.hpp"
#include "tests/sim/replay/data_or_skip.hpp"

namespace tidepool::sim {
namespace {

using nlohmann::json;

json forecasts_of(const SimOptions& options) {
  const auto report = run(options);
  INFO((report.ok() ? "" : report.error().message));
  REQUIRE(report.ok());
  json forecasts = json::parse(report->forecasts_json);
  std::printf("%s, %s: %s\n", options.workload.c_str(), options.policy.c_str(), forecasts.at("figures").dump().c_str());
  CHECK(forecasts.at("errors") == 0);
  CHECK(forecasts.at("cut_short") == 0);
  return forecasts;
}

SimOptions trace_options(const std::string& format, const std::string& text) {
  const auto trace = find_trace_format(format)->read({.text = text});
  REQUIRE(trace.ok());
  SimOptions options{.workload = format, .policy = "tidal"};
  options.workload_csv = write_trace_csv(trace->jobs);
  return options;
}

void check_covered(const json& figures) {
  CHECK(figures.at("covered") >= 0.70);
  CHECK(figures.at("covered") <= 0.87);
}

TEST_CASE("on a drawn workload half of the ends lie within 15 % of the forecast, and four in five in the interval") {
  SimOptions options{.workload = "generated:3", .generated_jobs = 500, .cluster = "8x4", .policy = "tidal"};
  options.generated_interarrival = Duration::seconds(120);
  options.forecast_every = Duration::seconds(600);
  const json forecasts = forecasts_of(options);
  const json& ends = forecasts.at("figures").at("end");
  CHECK(ends.at("forecasts") > 1'000);
  CHECK(ends.at("error_p50") <= 0.15);
  check_covered(ends);
  check_covered(forecasts.at("figures").at("start"));
  CHECK(forecasts_of(options).at("figures") == forecasts.at("figures"));
}

TEST_CASE("looking at a run changes nothing of it") {
  SimOptions options{.workload = "generated:5", .generated_jobs = 60, .cluster = "4x4", .policy = "tidal"};
  const auto alone = run(options);
  options.forecast_every = Duration::seconds(60);
  const auto watched = run(options);
  REQUIRE(alone.ok());
  REQUIRE(watched.ok());
  CHECK(alone->score.digest == watched->score.digest);
  CHECK(alone->forecasts_json.empty());
  CHECK_FALSE(watched->forecasts_json.empty());
}

TEST_CASE("on the small trace that is shipped, ends are forecast within 15 %") {
  const char* source = std::getenv("TIDEPOOL_SOURCE_DIR");
  REQUIRE(source != nullptr);
  const auto file = std::filesystem::path(source) / "tests" / "data" / "replay" / "elasticflow" / "jobs.csv";
  SimOptions options = trace_options("elasticflow", test::read_file(file));
  options.cluster = "2x4";
  options.forecast_every = Duration::seconds(60);
  const json forecasts = forecasts_of(options);
  CHECK(forecasts.at("figures").at("end").at("error_p50") <= 0.15);
}

TEST_CASE("on Microsoft's ITP trace half of all starts and ends lie within 15 % of the forecast") {
  const auto data = test::data_or_skip("itp");
  if (!data) return;
  SimOptions options = trace_options("elasticflow", test::read_file(*data / "195job.csv"));
  options.cluster = "16x4";
  options.forecast_every = Duration::seconds(3'600);
  const json forecasts = forecasts_of(options);
  for (const char* what : {"start", "end"}) {
    INFO(what);
    const json& figures = forecasts.at("figures").at(what);
    CHECK(figures.at("forecasts") > 100);
    CHECK(figures.at("error_p50") <= 0.15);
    check_covered(figures);
  }
  CHECK(forecasts.at("cost_ms_p50") == 0);  // without a stopwatch nothing depends on the machine
}

TEST_CASE("in a queue served in order of arrival half of all starts are forecast to the second") {
  const auto data = test::data_or_skip("itp");
  if (!data) return;
  SimOptions options = trace_options("elasticflow", test::read_file(*data / "195job.csv"));
  options.cluster = "16x4";
  options.policy = "fifo";
  options.forecast_every = Duration::seconds(3'600);
  const json forecasts = forecasts_of(options);
  CHECK(forecasts.at("figures").at("start").at("error_p50") <= 0.001);
  CHECK(forecasts.at("figures").at("end").at("error_p50") <= 0.001);
}

}  // namespace
}  // namespace tidepool::sim
