// What whole runs show: the engine finds the size that pays, a slow worker is replaced, a lost node is survived.
#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/state/measured/straggler_diagnosis.hpp"
#include "studies/sim_run.hpp"
#include "tests/sim/small_world.hpp"

namespace tidepool {
namespace {

using sim::SimResult;
using sim::SimSetup;

// A hundred samples a second a worker.
SimSetup one_job(policies::UslCurve curve, std::int64_t samples) {
  SimSetup setup = test::one_job_world();
  sim::SimJob& job = setup.workload.jobs[0];
  job.truth.curve = curve;
  job.truth.work_samples = samples;
  job.truth.boot = Duration::seconds(2);
  job.spec.work_samples = samples;
  job.spec.elastic = {.min = 1, .max = 4, .preferred = 2, .sizes = {1, 2, 3, 4}, .cooldown = Duration::seconds(2)};
  return setup;
}

bool took(const SimResult& result, const std::string& text) {
  return std::any_of(result.decision_lines.begin(), result.decision_lines.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

TEST_CASE("a job that scales grows to its maximum and finishes") {
  SimSetup setup = one_job({.lambda = 100, .sigma = 0.02, .kappa = 0}, 100'000);
  const SimResult result = sim::Simulator(setup).run();
  REQUIRE(result.violations.empty());
  REQUIRE(result.complete);
  CHECK(result.jobs.begin()->second->measurements.sizes.contains(4));
  CHECK(result.rows[0].resizes == 2);
  // At four workers: 100'000 / 377 = 265 s; two alone would need 510 s.
  CHECK(*result.rows[0].finished_s - result.rows[0].submitted_s < 320);
}

TEST_CASE("a job that does not scale tries one size more, takes it back and settles") {
  SimSetup setup = one_job({.lambda = 100, .sigma = 0.95, .kappa = 0.02}, 100'000);
  const SimResult result = sim::Simulator(setup).run();
  REQUIRE(result.complete);
  const auto& sizes = result.jobs.begin()->second->measurements.sizes;
  CHECK(sizes.contains(1));
  CHECK(sizes.contains(3));
  CHECK_FALSE(sizes.contains(4));
  CHECK(std::max_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) {
          return a.second.steps < b.second.steps;
        })->first == 1);
  CHECK(result.rows[0].resizes <= 4);
}

TEST_CASE("a worker that turns slow is replaced, and the throughput comes back") {
  SimSetup setup = one_job({.lambda = 100, .sigma = 0.02, .kappa = 0}, 200'000);
  setup.compute_times = true;
  setup.keep_decisions = true;
  setup.faults = {.worker_slow_every = Duration::seconds(100), .until = Duration::seconds(250)};
  const SimResult result = sim::Simulator(setup).run();
  REQUIRE(result.violations.empty());
  REQUIRE(result.complete);
  CHECK(took(result, "StragglerReplaced"));
}

// Verdicts and intents that name this reason, and of them those whose slowness follows `follows` (core::Follows).
int times(const SimResult& result, const std::string& code, core::Follows follows) {
  const std::string number = "\"follows\":" + std::to_string(static_cast<int>(follows));
  return static_cast<int>(
      std::count_if(result.decision_lines.begin(), result.decision_lines.end(), [&](const std::string& line) {
        return line.find(code) != std::string::npos && line.find(number) != std::string::npos;
      }));
}

// Two jobs on nodes of two slots, each with a node for itself and a worker on a second one, which they share.
SimSetup two_jobs_that_compute() {
  SimSetup setup = one_job({.lambda = 100, .sigma = 0.02, .kappa = 0}, 200'000);
  setup.cluster = {.nodes = 5, .slots_per_node = 2};
  setup.compute_times = true;
  setup.keep_decisions = true;
  setup.workload.jobs[0].spec.elastic = {.min = 2, .max = 3, .preferred = 3, .sizes = {2, 3}};
  setup.workload.jobs.push_back(setup.workload.jobs[0]);
  setup.workload.jobs[1].spec.name = "j2";
  return setup;
}

TEST_CASE("a node that turns slow is named as the cause, and its workers are replaced on others") {
  SimSetup setup = two_jobs_that_compute();
  setup.faults = {.node_slow_every = Duration::seconds(150),
                  .mean_node_outage = Duration::seconds(400),
                  .until = Duration::seconds(400)};
  int replaced = 0;
  for (setup.seed = 1; setup.seed <= 8; ++setup.seed) {
    const SimResult result = sim::Simulator(setup).run();
    REQUIRE(result.violations.empty());
    REQUIRE(result.complete);
    replaced += times(result, "StragglerReplaced", core::Follows::kNode);
  }
  CHECK(replaced > 0);
}

TEST_CASE("noise on the machines makes no job churn") {
  SimSetup setup = two_jobs_that_compute();
  setup.faults = {.node_noisy_every = Duration::seconds(20),
                  .mean_node_outage = Duration::seconds(300),
                  .until = Duration::seconds(800)};
  const SimResult result = sim::Simulator(setup).run();
  REQUIRE(result.violations.empty());
  REQUIRE(result.complete);
  CHECK_FALSE(took(result, "StragglerReplaced"));
  CHECK_FALSE(took(result, "StragglerShrunk"));
}

TEST_CASE("a node that is cut off and comes back with its workers costs no slot and no job") {
  SimSetup setup = one_job({.lambda = 100, .sigma = 0.02, .kappa = 0}, 100'000);
  setup.faults = {.node_cut_off_every = Duration::seconds(40),
                  .mean_node_outage = Duration::seconds(20),
                  .until = Duration::seconds(300)};
  const SimResult result = sim::Simulator(setup).run();
  CHECK(result.violations.empty());
  CHECK(result.complete);
  CHECK(result.rows[0].state == core::JobState::kSucceeded);
  CHECK(result.rows[0].steps == result.rows[0].steps_wanted);
}

TEST_CASE("sim run prints one digest for one seed, and another for another") {
  sim::SimOptions options{.generated_jobs = 30, .cluster = "4x4", .seed = 3};
  const auto first = sim::run(options);
  const auto second = sim::run(options);
  REQUIRE(first.ok());
  CHECK(first->score.digest == second->score.digest);
  CHECK(first->per_job_csv == second->per_job_csv);
  CHECK(first->score.completed == 30);
  CHECK(first->score.utilization > 0);
  CHECK(first->score.utilization <= 1);
  options.seed = 4;
  CHECK(sim::run(options)->score.digest != first->score.digest);
}

TEST_CASE("each decision that is written down names its jobs as the rows do") {
  sim::SimOptions options{.generated_jobs = 3, .cluster = "4x4", .seed = 3, .keep_decisions = true};
  const auto report = sim::run(options);
  REQUIRE(report.ok());
  std::map<std::string, std::string> names;
  for (const sim::JobResult& row : report->rows) names[row.id.text()] = row.name;
  std::istringstream lines(report->decisions_jsonl);
  int named = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto decision = nlohmann::json::parse(line);
    for (const auto& planned : decision.at("plan")) {
      CHECK(planned.at("name") == names.at(planned.at("job").get<std::string>()));
      ++named;
    }
  }
  CHECK(named >= 3);  // each starts
  options.workload = "rigid:gangs:2";
  options.cluster = "8x8";
  options.policy = "fifo";
  options.simulator = "rigid";
  const auto replayed = sim::run(options);
  REQUIRE(replayed.ok());
  std::istringstream rounds(replayed->decisions_jsonl);
  std::string line;
  REQUIRE(std::getline(rounds, line));
  CHECK(nlohmann::json::parse(line).at("name") == replayed->rows[0].name);
}

TEST_CASE("a name that is no UTF-8 does not end a run whose decisions are written down") {
  for (const char* simulator : {"live", "rigid"}) {
    CAPTURE(simulator);
    sim::SimOptions options{.workload = "t.csv", .cluster = "1x4", .policy = "fifo", .simulator = simulator};
    options.workload_csv = "name,submit_s,gpus,duration_s\ntrain\xE9,0,1,100\n";
    options.keep_decisions = true;
    const auto report = sim::run(options);
    REQUIRE(report.ok());
    CHECK(report->decisions_jsonl.find("\"name\":\"train\xEF\xBF\xBD\"") != std::string::npos);
  }
}

TEST_CASE("a run tells how far it is, under the engine's rules and in a replay") {
  for (const char* simulator : {"live", "rigid"}) {
    CAPTURE(simulator);
    sim::SimOptions options{.workload = "rigid:gangs:2", .cluster = "8x8", .policy = "fifo", .simulator = simulator};
    std::vector<sim::RunProgress> told;
    options.on_progress = [&](const sim::RunProgress& progress) { told.push_back(progress); };
    const auto report = sim::run(options);
    REQUIRE(report.ok());
    REQUIRE(told.size() > 10);
    CHECK(told.front().ended == 0);
    CHECK(told.back().ended == report->rows.size());
    CHECK(told.back().jobs == report->rows.size());
    CHECK(std::ranges::is_sorted(told, {}, &sim::RunProgress::now));
    CHECK(std::ranges::is_sorted(told, {}, &sim::RunProgress::ended));
    CHECK(told.back().now.to_seconds() >= report->rows.back().submitted_s);
  }
}

TEST_CASE("on a loaded cluster elastic sizing finishes jobs earlier than a fixed size") {
  sim::SimOptions options{.generated_jobs = 60, .cluster = "8x4", .policy = "fixed", .seed = 5};
  options.generated_interarrival = Duration::seconds(600);
  const auto fixed = sim::run(options);
  options.policy = "autoscaling_engine";
  const auto elastic = sim::run(options);
  REQUIRE(fixed.ok());
  REQUIRE(elastic.ok());
  CHECK(elastic->score.avg_jct_s < fixed->score.avg_jct_s);
  CHECK(elastic->score.resizes > 0);
  CHECK(fixed->score.resizes == 0);
}

TEST_CASE("sim run refuses what it cannot do, in words") {
  const auto message = [](const sim::SimOptions& options) { return sim::run(options).error().message; };
  CHECK(message({.simulator = "gavle"}).starts_with("there is no simulator called \"gavle\"; there are: "));
  CHECK(message({.cluster = "16"}).find("such as 16x4") != std::string::npos);
  CHECK(message({.policy = "best"}).find("choose one of autoscaling_engine, ") != std::string::npos);
  CHECK(message({.workload = "missing.csv"}).find("give a CSV file") != std::string::npos);
  CHECK(message({.workload = "generated:x"}).find("generated:SEED") != std::string::npos);
  CHECK(message({.generated_jobs = 0}).find("1 to 1000000") != std::string::npos);
}

}  // namespace
}  // namespace tidepool
