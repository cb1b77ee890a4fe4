// A node of four slots and six short jobs that tell how long they are, on a machine whose speed wanders: which
// start, change and give way when. TIDEPOOL_REWRITE=1 writes the log anew; the difference is then reviewed.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <sstream>

#include <catch2/catch.hpp>

#include "base/json.hpp"
#include "base/overloaded.hpp"
#include "core/codec/codec.hpp"
#include "tests/sim/small_world.hpp"
#include "tests/support/reasons.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

namespace fs = std::filesystem;

constexpr int kResizesAMinute = 4;
constexpr double kBootS = 0.2;

// Steps of 8 ms alone, on cores that others use, too: another worker brings little. `serial` is the part of a step that
// does not run side by side.
sim::SimJob charlm(int number, int min, double alone_s, double serial) {
  constexpr std::int64_t kBatch = 256;
  constexpr double kRate = 32'000;
  sim::SimJob job{.arrives = Duration::millis(1'500 * (number - 1))};
  job.truth.curve = {.lambda = kRate, .sigma = serial, .kappa = 0.02};
  job.truth.noise = 0.15;
  job.truth.global_batch = kBatch;
  job.truth.work_samples = static_cast<std::int64_t>(alone_s * kRate / kBatch) * kBatch;
  job.truth.boot = Duration::from_seconds(kBootS);
  job.truth.switch_stall = Duration::millis(30);
  job.truth.park = Duration::millis(50);
  job.truth.tells_length = true;
  job.spec.name = "charlm-" + std::to_string(number);
  job.spec.elastic = {.min = min, .max = 4, .preferred = min, .cooldown = Duration::seconds(2)};
  job.spec.elastic.sizes = sim::sizes_between(min, 4);
  job.spec.batch = {.global = kBatch, .per_worker_max = kBatch};
  return job;
}

sim::SimSetup small_pool(std::uint64_t seed) {
  sim::SimSetup setup{.seed = seed};
  setup.parts = [] { return engine_parts("tidal"); };
  setup.cluster = {.nodes = 1, .slots_per_node = 4};
  setup.report_every = Duration::millis(500);
  setup.limit = Duration::seconds(3'600);
  setup.keep_decisions = true;
  setup.workload.name = "small pool";
  setup.workload.jobs = {charlm(1, 1, 24, 0.9), charlm(2, 2, 36, 0.8), charlm(3, 1, 48, 0.9),
                         charlm(4, 1, 60, 0.8), charlm(5, 2, 72, 0.9), charlm(6, 1, 96, 0.9)};
  return setup;
}

struct Step {
  double at_s = 0;
  JobId job;
  std::string what;  // "start", "grow", "shrink", "preempt", ...
  std::string line;
};

std::vector<Step> steps_of(const sim::SimResult& result) {
  std::vector<Step> steps;
  for (const std::string& text : result.decision_lines) {
    const auto decision = core::decision_from_json(parse_json(text).value()).value();
    for (const core::PlannedIntent& planned : decision.plan) {
      Step step{.at_s = (decision.at - Instant()).to_seconds(), .job = core::job_of(planned.intent), .what = {}};
      step.what = core::name_of(planned.intent);
      const auto count = std::visit(Overloaded{[](const core::StartIntent& i) { return i.joining_workers.size(); },
                                               [](const core::GrowIntent& i) { return i.joining_workers.size(); },
                                               [](const core::ShrinkIntent& i) { return i.leaving_workers.size(); },
                                               [](const auto&) { return std::size_t{0}; }},
                                    planned.intent);
      std::ostringstream line;
      line << std::fixed << std::setprecision(3) << std::setw(8) << step.at_s << " s  " << step.job.text() << " "
           << step.what << (count > 0 ? " " + std::to_string(count) : "") << " [" << core::name_of(planned.reason)
           << "]";
      step.line = line.str();
      if (step.what != "switch") steps.push_back(std::move(step));
    }
  }
  return steps;
}

int most_resizes_in_a_minute(const std::vector<Step>& steps, JobId job) {
  std::vector<double> at;
  for (const Step& step : steps) {
    if (step.job == job && (step.what == "grow" || step.what == "shrink")) at.push_back(step.at_s);
  }
  std::ptrdiff_t most = 0;
  for (const double first : at) {
    most = std::max(most, std::count_if(at.begin(), at.end(), [&](double t) { return t >= first && t < first + 60; }));
  }
  return static_cast<int>(most);
}

// For how long the job held slots after that, without its start.
double held_after(const sim::JobResult& row, double at_s) {
  double seconds = 0;
  for (std::size_t i = 0; i + 1 < row.held.size(); ++i) {
    if (row.held[i].at_s > at_s + 1 && row.held[i].slots > 0) seconds += row.held[i + 1].at_s - row.held[i].at_s;
  }
  return seconds - kBootS;
}

fs::path golden_file() {
  const char* source = std::getenv("TIDEPOOL_SOURCE_DIR");
  return fs::path(source == nullptr ? "." : source) / "tests" / "golden" / "small_pool.txt";
}

std::string log_of(const std::vector<Step>& steps) {
  std::string log;
  for (const Step& step : steps) log += step.line + "\n";
  return log;
}

TEST_CASE("six short jobs on four slots are decided as it is written down") {
  const auto result = sim::Simulator(small_pool(1)).run();
  REQUIRE(result.complete);
  const std::string log = log_of(steps_of(result));
  if (std::getenv("TIDEPOOL_REWRITE") != nullptr) {
    std::ofstream(golden_file(), std::ios::binary) << log;
    return;
  }
  std::ifstream in(golden_file(), std::ios::binary);
  INFO("after a wanted change, run this test with TIDEPOOL_REWRITE=1 and review the difference");
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == log);
}

TEST_CASE("in a small pool no job is preempted near its end, and none changes its size all the time") {
  for_each_seed("small pool", 20, [](std::uint64_t seed, Rng&) {
    CAPTURE(seed);
    const auto result = sim::Simulator(small_pool(seed)).run();
    REQUIRE(result.violations.empty());
    REQUIRE(result.complete);
    const std::vector<Step> steps = steps_of(result);
    INFO(log_of(steps));
    for (const sim::JobResult& row : result.rows) {
      CAPTURE(row.name);
      REQUIRE(row.state == core::JobState::kSucceeded);
      CHECK(most_resizes_in_a_minute(steps, row.id) <= kResizesAMinute);
    }
    for (const Step& step : steps) {
      if (step.what == "preempt") CHECK(held_after(result.rows.at(step.job.number() - 1), step.at_s) > kBootS);
    }
  });
}

}  // namespace
}  // namespace tidepool::test
