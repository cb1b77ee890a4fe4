// The published tables, value by value: every job's completion time to the second.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include <sstream>
#include <string>

#include "studies/sim_run.hpp"
#include "tests/sim/replay/data_or_skip.hpp"

namespace tidepool::sim {
namespace {

using nlohmann::json;

// name -> completion time, of the CSV that a run writes.
std::map<std::string, double> jct_by_name(const std::string& csv) {
  std::map<std::string, double> found;
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  REQUIRE(line.starts_with("name,application,tenant,state,submitted_s,started_s,finished_s,queue_s,jct_s,"));
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::string name;
    std::string cell;
    std::getline(cells, name, ',');
    for (int column = 1; column <= 8; ++column) std::getline(cells, cell, ',');
    found[name] = std::stod(cell);
  }
  return found;
}

struct Load {
  const char* name;
  const char* folder;
};

// How many of the published values a policy meets, over all workloads of one load.
struct Met {
  int values = 0;
  int equal = 0;
  std::string first_difference;
};

Met compare(const std::filesystem::path& data, const std::string& policy, const Load& load) {
  Met met;
  const json published =
      json::parse(test::read_file(data / "authors_results" / (policy + "-load" + load.name + ".json")));
  const auto profiles = test::read_profiles(data / "traces");
  for (const auto& [workload, jobs] : published["jct_s"].items()) {
    SimOptions options{.workload = workload, .cluster = "16x4", .policy = policy, .simulator = "pollux"};
    options.profiles = profiles;
    options.workload_csv = test::read_file(data / load.folder / (workload + ".csv"));
    const auto report = run(options);
    REQUIRE(report.ok());
    const auto ours = jct_by_name(report->per_job_csv);
    REQUIRE(ours.size() == jobs.size());
    for (const auto& [name, jct] : jobs.items()) {
      ++met.values;
      if (ours.at(name) == jct.get<double>()) {
        ++met.equal;
      } else if (met.first_difference.empty()) {
        met.first_difference =
            workload + " " + name + ": " + std::to_string(ours.at(name)) + ", published " + jct.dump();
      }
    }
  }
  return met;
}

void check_policy(const std::string& policy) {
  const auto data = test::data_or_skip("pollux_osdi21");
  if (!data) return;
  int values = 0;
  for (const Load& load : {Load{"0.5", "workloads-0.5"}, Load{"1.0", "workloads"}, Load{"2.0", "workloads-2.0"}}) {
    const Met met = compare(*data, policy, load);
    INFO(policy << " at load " << load.name << ": " << met.first_difference);
    CHECK(met.equal == met.values);
    values += met.values;
  }
  CHECK(values == 2'800);
}

}  // namespace

TEST_CASE("tiresias: each of 2,800 published job completion times is met to the second") {
  check_policy("tiresias");
}

TEST_CASE("optimus: each of 2,800 published job completion times is met to the second") {
  check_policy("optimus");
}

TEST_CASE("two runs of the same replay have the same digest, and policies have different ones") {
  const auto data = test::data_or_skip("pollux_osdi21");
  if (!data) return;
  SimOptions options{.workload = "workload-6", .cluster = "16x4", .policy = "optimus", .simulator = "pollux"};
  options.profiles = test::read_profiles(*data / "traces");
  options.workload_csv = test::read_file(*data / "workloads" / "workload-6.csv");
  const auto first = run(options);
  const auto second = run(options);
  options.policy = "tiresias";
  const auto other = run(options);
  REQUIRE((first.ok() && second.ok() && other.ok()));
  CHECK(first->score.digest == second->score.digest);
  CHECK(first->per_job_csv == second->per_job_csv);
  CHECK(first->score.digest != other->score.digest);
}

}  // namespace tidepool::sim
