// Gavel's figures, and the rules of its leases on traces of a few lines.
#include <catch2/catch.hpp>

#include <sstream>
#include <string>
#include <vector>

#include "studies/sim_run.hpp"
#include "tests/sim/replay/data_or_skip.hpp"
#include "tests/sim/replay/gavel_options.hpp"

namespace tidepool::sim {
namespace {

constexpr const char* kSpeeds = R"json({
  "fast": {"('A', 1)": {"null": 10.0}, "('A', 2)": {"null": 18.0}},
  "slow": {"('A', 1)": {"null": 1.0}, "('A', 2)": {"null": 2.0}}})json";

std::string job(int steps, int size, int arrival) {
  return "A\tcommand\tfolder\t--steps\t1\t" + std::to_string(steps) + "\t" + std::to_string(size) + "\t1\t-1\t" +
         std::to_string(arrival) + "\n";
}

SimOptions options_for(const std::string& trace, const std::string& cluster, const std::string& policy) {
  SimOptions options{.workload = "trace", .cluster = cluster, .policy = policy, .simulator = "gavel"};
  options.workload_csv = trace;
  options.profile_files["speeds.json"] = kSpeeds;
  return options;
}

std::vector<std::string> column(const std::string& csv, int wanted) {
  std::vector<std::string> found;
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::string cell;
    for (int at = 0; at <= wanted; ++at) std::getline(cells, cell, ',');
    found.push_back(cell);
  }
  return found;
}
constexpr int kFinished = 6;

struct Figure {
  const char* policy;
  double avg_jct_h;
  double part;  // how far off it may be
};

}  // namespace

TEST_CASE("gavel_las, gavel_las_perf and gavel_ftf meet Gavel's average completion times within one per cent") {
  const auto data = test::data_or_skip("gavel");
  if (!data) return;
  // gavel_las depends on chance in both simulators: docs/fidelity.md has the spread over seeds.
  for (const Figure& figure :
       {Figure{"gavel_las_perf", 4.062, 0.01}, Figure{"gavel_ftf", 4.169, 0.01}, Figure{"gavel_las", 5.553, 0.01}}) {
    SimOptions options = gavel_options(*data, "max_min_fairness.trace");
    options.policy = figure.policy;
    const auto report = run(options);
    INFO(figure.policy << (report.ok() ? "" : ": " + report.error().message));
    REQUIRE(report.ok());
    CHECK(report->score.completed == 96);
    CHECK(report->score.avg_jct_s / 3'600 == Approx(figure.avg_jct_h).epsilon(figure.part));
    if (std::string(figure.policy) == "gavel_las_perf") {
      CHECK(report->score.makespan_s / 3'600 == Approx(17.76).epsilon(0.01));
    }
    const auto again = run(options);
    CHECK(again->score.digest == report->score.digest);
  }
}

TEST_CASE("a lease ends after the whole steps that fit, a job after its last step") {
  // 10 steps a second: 3,600 in the first round, 400 in the second.
  const auto report = run(options_for(job(4'000, 1, 0), "1x1:fast", "gavel_max_sum"));
  REQUIRE(report.ok());
  CHECK(column(report->per_job_csv, kFinished) == std::vector<std::string>{"400"});
}

TEST_CASE("a job that arrives within a round waits for its end") {
  const auto report = run(options_for(job(7'200, 1, 0) + job(10, 1, 100), "2x1:fast", "fifo"));
  REQUIRE(report.ok());
  CHECK(column(report->per_job_csv, kFinished) == std::vector<std::string>{"720", "361"});
}

TEST_CASE("a job that no type suits stays, and the run ends at its limit") {
  SimOptions options = options_for(job(10, 2, 0), "1x1:fast", "gavel_las_perf");
  options.until = Duration::seconds(7'200);
  const auto report = run(options);
  REQUIRE(report.ok());
  CHECK(report->score.completed == 0);
  REQUIRE(report->notes.size() == 1);
  CHECK(report->notes[0] ==
        "under gavel_las_perf the run was cut off 2 hours after the first submission with 1 of 1 job left, 1 of which "
        "never ran");
}

TEST_CASE("a policy that knows no slot types puts no job on a type on which it was not measured") {
  // A runs on fast slots alone, B on both; B came first to the fast ones.
  constexpr const char* kPartly = R"json({
    "fast": {"('A', 1)": {"null": 10.0}, "('A', 2)": {"null": 18.0}, "('B', 1)": {"null": 10.0}},
    "slow": {"('A', 1)": {"null": 0.0}, "('B', 1)": {"null": 5.0}}})json";
  std::string b = job(36'000, 1, 0);
  b[0] = 'B';
  const std::string trace = b + b + job(7'200, 1, 10) + job(7'200, 2, 20) + job(3'600, 1, 30);
  for (const char* policy :
       {"afs", "ffdl", "fifo", "gandiva", "las", "optimus", "pollux", "srtf", "themis", "tiresias"}) {
    for (const char* cluster : {"2x1:fast,2x1:slow", "2x1:slow,2x1:fast"}) {
      SimOptions options = options_for(trace, cluster, policy);
      options.profile_files["speeds.json"] = kPartly;
      const auto report = run(options);
      INFO(policy << " on " << cluster << (report.ok() ? "" : ": " + report.error().message));
      REQUIRE(report.ok());
      CHECK(report->score.completed == 5);
      CHECK(report->score.makespan_s < 6 * 3'600);
    }
  }
}

TEST_CASE("gavel: what is wrong with a trace, a table or a cluster is said with its place") {
  const auto message = [](const SimOptions& options) {
    const auto report = run(options);
    return report.ok() ? std::string("no error") : report.error().message;
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(message(options_for("A\tB\n", "1x1:fast", "fifo")), Contains("trace line 1") && Contains("10"));
  std::string unknown = job(10, 1, 0);
  unknown[0] = 'Z';
  CHECK_THAT(message(options_for(unknown, "1x1:fast", "fifo")), Contains("('Z', 1)"));
  CHECK_THAT(message(options_for(job(10, 1, 5) + job(10, 1, 0), "1x1:fast", "fifo")), Contains("arrives before"));
  CHECK_THAT(message(options_for(job(10, 1, 0), "1x1:gone", "fifo")), Contains("\"gone\""));
  CHECK_THAT(message(options_for(job(10, 1, 0), "1x1:fast,1x1", "fifo")), Contains("names the slot type"));
  CHECK_THAT(message(options_for(job(10, 1, 0), "1x1:fast,2x1:fast", "fifo")), Contains("same slot type"));
  CHECK_THAT(message(options_for(job(10, 1, 0), "1x1:fast@free", "fifo")), Contains("price"));
  CHECK_THAT(message(options_for("", "1x1:fast", "fifo")), Contains("no job"));
  SimOptions broken = options_for(job(10, 1, 0), "1x1:fast", "fifo");
  broken.profile_files["speeds.json"] = "{";
  CHECK_THAT(message(broken), Contains("speeds.json"));
  broken.profile_files.clear();
  CHECK_THAT(message(broken), Contains("--profiles"));
}

TEST_CASE("gavel_cost runs a job where its steps are cheapest") {
  const std::string trace = job(3'600, 1, 0);
  const auto dear = run(options_for(trace, "1x1:fast@20,1x1:slow@1", "gavel_cost"));
  const auto cheap = run(options_for(trace, "1x1:fast@5,1x1:slow@1", "gavel_cost"));
  REQUIRE((dear.ok() && cheap.ok()));
  CHECK(column(cheap->per_job_csv, kFinished) == std::vector<std::string>{"360"});
  // Share 0 on the fast type, and yet slots left over go to any job that is there: the first type is asked first.
  CHECK(dear->score.completed == 1);
}

}  // namespace tidepool::sim
