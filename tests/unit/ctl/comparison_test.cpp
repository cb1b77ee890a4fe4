#include "schedctl/studies/comparison.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <sstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "schedctl/studies/compare_report.hpp"
#include "schedctl/studies/run_pool.hpp"
#include "schedctl/studies/status_line.hpp"
#include "studies/sim_run.hpp"

using namespace tidepool;
using namespace tidepool::ctl;

namespace {

// Two policies on one workload with three seeds; figures that can be checked by hand.
Comparison made() {
  Comparison comparison{.policies = {"slow", "quick"},
                        .workloads = {"week.csv"},
                        .seeds = {1, 2, 3},
                        .simulator = "live",
                        .cluster = "4x8",
                        .command = "schedctl sim compare --policies slow,quick",
                        .runs = {}};
  for (const double factor : {1.0, 0.5}) {
    for (const std::uint64_t seed : comparison.seeds) {
      ComparedRun run{
          .policy = comparison.policies[factor < 1 ? 1 : 0], .workload = "week.csv", .seed = seed, .report = {}};
      const double base = 3'600.0 + 60.0 * static_cast<double>(seed);
      run.report.score = {.policy = run.policy,
                          .workload = "week.csv",
                          .cluster = "4x8",
                          .jobs = 10,
                          .completed = 10,
                          .avg_jct_s = base * factor,
                          .p50_jct_s = 1'800 * factor,
                          .p90_jct_s = 7'000,
                          .p99_jct_s = 9'000,
                          .makespan_s = 36'000,
                          .utilization = 0.5,
                          .ftf_worst = 2 * factor,
                          .decision_us_p99 = 12.25,
                          .digest = std::to_string(seed)};
      run.report.per_job_csv = "name,jct_s\na," + std::to_string(seed) + "\n";
      comparison.runs.push_back(std::move(run));
    }
  }
  return comparison;
}

}  // namespace

TEST_CASE("a mean has the interval of Student's t, two values just their range, and a single value nothing") {
  const Estimate three = estimate_of({1, 2, 3});
  CHECK(three.mean == 2);
  REQUIRE(three.spread);
  CHECK(three.spread->is_interval);
  CHECK(three.spread->high == Approx(2 + 4.30265 / std::sqrt(3.0)).epsilon(1e-5));
  CHECK(three.spread->low == Approx(2 - 4.30265 / std::sqrt(3.0)).epsilon(1e-5));
  const Estimate two = estimate_of({3, 1});
  REQUIRE(two.spread);
  CHECK_FALSE(two.spread->is_interval);
  CHECK(two.spread->low == 1);
  CHECK(two.spread->high == 3);
  CHECK_FALSE(estimate_of({7}).spread);
}

TEST_CASE("a ratio compares pair by pair, so that what both have in common drops out") {
  const auto ratio = ratio_of({50, 500, 5'000}, {100, 1'000, 10'000});
  REQUIRE(ratio);
  CHECK(ratio->mean == Approx(0.5));
  REQUIRE(ratio->spread);
  CHECK(ratio->spread->low == Approx(0.5));
  CHECK(ratio->spread->high == Approx(0.5));
  CHECK_FALSE(ratio_of({0}, {1}));
}

TEST_CASE("over all workloads a policy is held against the first one") {
  Comparison comparison = made();
  comparison.workloads.emplace_back("day.csv");
  const auto week = comparison.runs;
  comparison.runs.insert(comparison.runs.end(), week.begin(), week.end());
  const std::string text = comparison_text(comparison, {.width = 80});
  const auto all = text.find("all workloads");
  REQUIRE(all != std::string::npos);
  std::istringstream line(text.substr(text.find("\nquick", all)));
  std::string name;
  std::string ratio;
  line >> name >> ratio;
  CHECK(ratio == "0.50");
  CHECK_THAT(text, Catch::Contains("\nRANGE is what the ratios of AVG JCT of the two workloads span.\n"));
  comparison.workloads.emplace_back("month.csv");
  comparison.runs.insert(comparison.runs.end(), week.begin(), week.end());
  CHECK_THAT(comparison_text(comparison, {.width = 80}),
             Catch::Contains("\n95 % is the confidence interval of the ratio of AVG JCT over workloads.\n"));
}

TEST_CASE("jobs that did not complete are told, in whichever seed") {
  Comparison comparison = made();
  CHECK(comparison_text(comparison, {.width = 80}).find("completed") == std::string::npos);
  comparison.runs[4].report.score.completed = 7;
  CHECK(comparison_text(comparison, {.width = 80}).find("quick: 27 of 30 jobs completed") != std::string::npos);
}

TEST_CASE("a policy under which no job completed has no job times, and is the best in none") {
  Comparison comparison = made();
  for (ComparedRun& run : comparison.runs) {
    if (run.policy == "quick") run.report.score = {.policy = "quick", .jobs = 10, .makespan_s = 36'000};
  }
  const std::string text = comparison_text(comparison, {.width = 80});
  CHECK_THAT(text, Catch::Contains("\nquick           -       -      -     -   600 "));
  CHECK(text.find("quick: no job completed, so there are no job times") != std::string::npos);
  CHECK(comparison_json(comparison).at("summary").at(1).at("avg_jct_s").is_null());
  CHECK(average_in_words(comparison.runs[3].report.score) == "- (no job completed)");
}

TEST_CASE("the table of a comparison fits 80 columns and marks the best of each column") {
  const std::string text = comparison_text(made(), {.width = 80});
  const std::string table =
      "week.csv  10 jobs on 4x8, simulator: live, 3 seeds, times in minutes\n"
      "POLICY      RATIO  AVG JCT    P50   P99  SPAN  USE %    FTF  P99 us\n"
      "slow         1.00    62.0   30.0   150   600   50.0   2.00    12.2\n"
      "        1.00-1.00   ±2.48     ±0    ±0    ±0     ±0     ±0      ±0\n"
      "quick        0.50    31.0*  15.0*  150   600   50.0   1.00*   12.2\n"
      "        0.50-0.50   ±1.24     ±0    ±0    ±0     ±0     ±0      ±0\n";
  CHECK(text.substr(0, table.size()) == table);
  CHECK(text.substr(table.size()).starts_with("\n* is the best of its column; RATIO is AVG JCT over that of slow,"));
  std::string note = text.substr(table.size());
  std::replace(note.begin(), note.end(), '\n', ' ');
  for (const char* heading : {"AVG JCT, P50, P99: mean", "SPAN: from", "USE %: of", "FTF: worst", "P99 us: 99th"}) {
    CHECK_THAT(note, Catch::Contains(heading));  // no heading is left unexplained
  }
}

TEST_CASE("two seeds are told with what they span, and said to be too few for an interval") {
  Comparison comparison = made();
  comparison.seeds = {1, 2};
  comparison.runs.erase(comparison.runs.begin() + 5);
  comparison.runs.erase(comparison.runs.begin() + 2);
  const std::string text = comparison_text(comparison, {.width = 200});
  INFO(text);
  CHECK_THAT(text, Catch::Contains("\nslow         1.00    61.5   30.0 "));
  CHECK_THAT(text, Catch::Contains("\n        1.00-1.00   ±0.50 "));
  CHECK_THAT(text, Catch::Contains(
                       "± and the ranges under it span the two seeds, which are too few for an interval. AVG JCT"));
  CHECK(text.find("95 %") == std::string::npos);
  const auto slow = comparison_json(comparison).at("summary").at(0);
  CHECK(slow.at("avg_jct_s").at("half_width_95").is_null());
  CHECK(slow.at("avg_jct_s").at("range") == nlohmann::json{3'660, 3'720});
  CHECK(slow.at("ratio").at("high_95").is_null());
  CHECK(slow.at("ratio").at("range") == nlohmann::json{1, 1});
  // A run's own is a part of 1.
  CHECK(slow.at("utilization_percent").at("mean") == 50);
  CHECK_FALSE(slow.contains("utilization"));
  CHECK(comparison_json(comparison).at("runs").at(0).at("utilization") == 0.5);
  const auto of_three = comparison_json(made()).at("summary").at(0).at("avg_jct_s");
  CHECK(of_three.at("range").is_null());
  CHECK(of_three.at("half_width_95") > 0);

  // In one of three seeds no job completed: what is left is of another kind than the note under the table says.
  comparison = made();
  comparison.runs[0].report.score.completed = 0;
  const auto some = comparison_json(comparison).at("summary").at(0).at("avg_jct_s");
  CHECK(some.at("range").is_null());
  CHECK(some.at("half_width_95").is_null());
}

TEST_CASE("figures that read alike are not told apart by the mark of the best") {
  Comparison comparison = made();
  for (ComparedRun& run : comparison.runs) {
    run.report.score.utilization = run.policy == "quick" ? 0.50001 : 0.5;  // 50.0 % both
    run.report.score.p50_jct_s = 1'800;
  }
  comparison.policies.emplace_back("quicker");
  for (std::size_t seed = 0; seed < 3; ++seed) {
    ComparedRun run = comparison.runs[3 + seed];
    run.policy = "quicker";
    run.report.score.avg_jct_s -= 0.001;  // 31.0 minutes both
    comparison.runs.push_back(std::move(run));
  }
  const std::string text = comparison_text(comparison, {.width = 80});
  INFO(text);
  CHECK_THAT(text, Catch::Contains("\nquick         0.50    31.0*  30.0   150   600   50.0   1.00*"));
  CHECK_THAT(text, Catch::Contains("\nquicker       0.50    31.0*  30.0   150   600   50.0   1.00*"));
}

TEST_CASE("seeds that make no difference are said to make none, and no interval is shown") {
  Comparison comparison = made();
  for (ComparedRun& run : comparison.runs) run.report.score.digest = "same";
  const std::string text = comparison_text(comparison, {.width = 80});
  CHECK(text.find("±") == std::string::npos);
  CHECK(text.find("Every seed gave the same run: nothing in it is drawn.\n") != std::string::npos);
}

TEST_CASE("a comparison as CSV has a row for each run and for each job") {
  const std::string csv = comparison_csv(made());
  CHECK(csv.starts_with("policy,workload,seed,simulator,cluster,jobs,completed,avg_jct_s,"));
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 7);
  CHECK(csv.find("\nquick,week.csv,3,live,4x8,10,10,1890.0,") != std::string::npos);
  CHECK(comparison_jobs_csv(made()).starts_with(
      "policy,workload,seed,name,jct_s\nslow,week.csv,1,a,1\nslow,week.csv,2,a,2\n"));
}

TEST_CASE("a figure that only some runs have is a column, empty for the others") {
  Comparison comparison = made();
  comparison.runs[1].report.score.deadlines = 4;
  comparison.runs[1].report.score.gap_p50 = 0.25;
  comparison.runs[1].policy = "a,b";
  std::istringstream lines(comparison_csv(comparison));
  std::vector<std::size_t> commas;
  std::string header;
  std::string second;
  for (std::string line; std::getline(lines, line);) {
    if (commas.empty()) header = line;
    if (commas.size() == 2) second = line;
    commas.push_back(static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')));
  }
  CHECK(header.ends_with(",digest,deadlines,deadlines_met,deadline_ratio"));
  CHECK(second.starts_with("\"a,b\",week.csv,2,"));
  CHECK(second.ends_with(",2,4,0,0.0"));
  REQUIRE(commas.size() == 7);
  CHECK(commas[1] == commas[0]);
  CHECK(commas[2] == commas[0] + 1);                                          // that of the quoted name
  CHECK(comparison_csv(made()).find(",2.0,0.0,,,,0,") != std::string::npos);  // no bound and no gap is known
}

TEST_CASE("a table tells the deadlines that were met and how far the rest is from what is possible") {
  Comparison comparison = made();
  CHECK(comparison_text(comparison, {.width = 80}).find("deadlines met") == std::string::npos);
  for (ComparedRun& run : comparison.runs) {
    run.report.score.deadlines = 10;
    run.report.score.deadlines_met = run.policy == "slow" ? 3 : 6;
    run.report.score.deadlines_bound = run.policy == "slow" ? 8 : 7;  // quick pays for more
    run.report.score.jct_bound_s = 600;
    if (run.policy == "quick") run.report.score.gap_p50 = 0.011;
    if (run.policy == "quick") run.report.score.gap_p99 = 0.125;
  }
  const std::string text = comparison_text(comparison, {.width = 200});
  CHECK(text.find("deadlines met: slow 9 of 30 (30 %), quick 18 of 30 (60 %); no policy meets more than 24\n") !=
        std::string::npos);
  CHECK(text.find(
            "no policy gets AVG JCT below 10.0 minutes; quick's decisions are worth 1.10 % (median) to 12.5 % (99th "
            "percentile) less than the best choice of sizes could be\n") != std::string::npos);
}

TEST_CASE("of a comparison that was stopped, the runs that had ended are kept") {
  const Comparison some = comparison_of(made(), {false, true, false, false, false, true});
  REQUIRE(some.runs.size() == 2);
  CHECK(some.runs[0].seed == 2);
  CHECK(some.runs[1].policy == "quick");
  const std::string csv = comparison_csv(some);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 3);
}

TEST_CASE("a report begins with the first submission and tells what must be known to read it") {
  Comparison comparison = made();
  for (ComparedRun& run : comparison.runs) {
    run.report.rows = {{.name = "late", .state = core::JobState::kSucceeded, .submitted_s = 1'000'000}};
    run.report.rows[0].finished_s = 1'000'240;
    run.report.rows[0].held = {{.at_s = 1'000'000, .slots = 2}, {.at_s = 1'000'120, .slots = 0}};
    run.report.fairness = {1};
  }
  comparison.runs[0].report.notes = {"jobs ask for more"};
  comparison.runs[4].complaint = "9 rounds failed";
  comparison.runs[4].report.score.completed = 3;
  const auto workload = report_data(comparison).at("workloads").at(0);
  CHECK(workload.at("end_s") == 240);
  const auto slots = workload.at("policies").at(0).at("slots");
  CHECK(slots.front() == 2);
  CHECK(slots.back() == 0);
  CHECK(workload.at("remarks") == nlohmann::json{"note: jobs ask for more",
                                                 "quick: 23 of 30 jobs completed; its job times are of those",
                                                 "seed 2: 9 rounds failed"});
  CHECK(comparison_text(comparison, {.width = 80}).find("\nseed 2: 9 rounds failed\n") != std::string::npos);
}

TEST_CASE("no text in a report ends its script early") {
  Comparison comparison = made();
  comparison.command = "</script><script>alert(1)</script>";
  const std::string html = comparison_html(comparison);
  CHECK(html.find("</script><script>alert") == std::string::npos);
  CHECK(html.find("\\u003c/script>\\u003cscript>alert(1)") != std::string::npos);
}

TEST_CASE("a pool runs each piece once, and its first failure ends it") {
  for (const unsigned threads : {1U, 4U}) {
    std::vector<std::atomic<int>> runs(50);
    std::size_t told = 0;
    run_pool({.count = runs.size(),
              .threads = threads,
              .run = [&](std::size_t piece) { ++runs[piece]; },
              .on_done = [&](std::size_t) { ++told; },
              .on_tick = {}});
    CHECK(std::all_of(runs.begin(), runs.end(), [](const auto& count) { return count == 1; }));
    CHECK(told == runs.size());
    const auto failing = [&] {
      run_pool({.count = 8,
                .threads = threads,
                .run =
                    [](std::size_t piece) {
                      if (piece == 2) throw std::runtime_error("piece 2");
                    },
                .on_done = {},
                .on_tick = {}});
    };
    CHECK_THROWS_WITH(failing(), "piece 2");
  }
}

TEST_CASE("the line of a run says how many jobs have ended, in which simulated time, and since when it runs") {
  CHECK(run_line({.now = Duration::seconds(12'000), .ended = 1'200, .jobs = 3'000}, std::chrono::seconds(75)) ==
        "1,200 of 3,000 jobs ended after 3h 20m of simulated time, 1m 15s");
}

TEST_CASE("runs give the same reports on one thread and on four") {
  std::vector<std::string> digests[2];
  for (const unsigned threads : {1U, 4U}) {
    auto& of = digests[threads == 1 ? 0 : 1];
    of.resize(6);
    run_pool({.count = of.size(),
              .threads = threads,
              .run =
                  [&](std::size_t piece) {
                    sim::SimOptions options{.generated_jobs = 12, .cluster = "4x4", .seed = piece / 2 + 1};
                    options.policy = piece % 2 == 0 ? "fifo" : "autoscaling_engine";
                    of[piece] = sim::run(options).value().score.digest;
                  },
              .on_done = {},
              .on_tick = {}});
  }
  CHECK(digests[0] == digests[1]);
  CHECK(digests[0][0] != digests[0][1]);
  CHECK(digests[0][0] != digests[0][2]);
}
