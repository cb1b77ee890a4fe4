// How long jobs take under `tidal` beside the averages that Pollux's authors published: five workloads at three loads,
// with a restart of 30 s and of 1 s, told nothing, with what earlier jobs that are as fast or of the same kind let
// expect, and with declared work; and beside theirs the 99th percentile and the makespan. Needs the published data
// (TIDEPOOL_DATA, or shared/data beside the checkout); without it prints nothing.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "studies/sim_run.hpp"
#include "tests/sim/replay/published_data.hpp"

namespace tidepool {
namespace {

enum class Told { kNothing, kByPace, kByKind, kDeclared };
constexpr std::array kTold{std::pair{Told::kNothing, "blind"}, std::pair{Told::kByPace, "by_pace"},
                           std::pair{Told::kByKind, "by_kind"}, std::pair{Told::kDeclared, "declared"}};
constexpr std::array kLoads{std::pair{"0.5", "workloads-0.5"}, std::pair{"1.0", "workloads"},
                            std::pair{"2.0", "workloads-2.0"}};
constexpr std::array kWorkloads{"workload-1", "workload-2", "workload-3", "workload-4", "workload-6"};

struct Case {
  std::string load;
  std::string workload;
  std::string csv;
  int restart_s = 30;
  Told told = Told::kByKind;
  std::map<std::string, double> published_jct_s;  // by the job's name
  sim::SimReport report;
};

sim::SimReport run(const Case& of, const std::map<std::string, sim::ApplicationFiles>& profiles) {
  const auto report = sim::run({.workload = of.workload,
                                .workload_csv = of.csv,
                                .cluster = "16x4",
                                .policy = "tidal",
                                .simulator = "pollux",
                                .profiles = profiles,
                                .declared_work = of.told == Told::kDeclared,
                                .kind_prior = of.told != Told::kNothing,
                                .kin_by_pace = of.told == Told::kByPace,
                                .restart_penalty = Duration::seconds(of.restart_s)});
  if (!report) {
    std::fprintf(stderr, "%s at load %s: %s\n", of.workload.c_str(), of.load.c_str(), report.error().message.c_str());
    std::exit(1);
  }
  return *report;
}

std::vector<Case> all_cases(const std::filesystem::path& data) {
  std::vector<Case> cases;
  for (const auto& [load, folder] : kLoads) {
    const auto published = nlohmann::json::parse(
        test::read_file(data / "authors_results" / ("pollux-load" + std::string(load) + ".json")));
    for (const int restart_s : {30, 1}) {
      for (const auto& [told, name] : kTold) {
        for (const char* workload : kWorkloads) {
          cases.push_back({.load = load,
                           .workload = workload,
                           .csv = test::read_file(data / folder / (std::string(workload) + ".csv")),
                           .restart_s = restart_s,
                           .told = told,
                           .published_jct_s = published.at("jct_s").at(workload).get<std::map<std::string, double>>(),
                           .report = {}});
        }
      }
    }
  }
  return cases;
}

struct Figures {
  double avg_jct_s = 0;
  double p99_jct_s = 0;  // nearest rank, as in a scoreboard
  double makespan_s = 0;
};

// As the authors' jobs took, which came when ours did.
Figures published(const Case& of) {
  std::vector<double> took;
  double sum = 0;
  double first = std::numeric_limits<double>::infinity();
  double last = 0;
  for (const sim::JobResult& row : of.report.rows) {
    const double jct = of.published_jct_s.at(row.name);
    took.push_back(jct);
    sum += jct;
    first = std::min(first, row.submitted_s);
    last = std::max(last, row.submitted_s + jct);
  }
  std::sort(took.begin(), took.end());
  const auto rank = static_cast<std::size_t>(std::ceil(0.99 * double(took.size())));
  return {.avg_jct_s = sum / double(took.size()), .p99_jct_s = took.at(rank - 1), .makespan_s = last - first};
}

// The workloads of one setting, one after the other in `cases`.
void print(const Case* first) {
  // Means over the workloads.
  Figures ratio;  // ours to the authors'
  double ours_s = 0;
  double published_s = 0;
  double bound = 0;
  double gap = 0;
  double unfair = 0;
  for (const Case* of = first; of != first + kWorkloads.size(); ++of) {
    const double share = 1.0 / double(kWorkloads.size());
    const sim::Scoreboard& score = of->report.score;
    const Figures theirs = published(*of);
    published_s += share * theirs.avg_jct_s;
    ours_s += share * score.avg_jct_s;
    ratio.avg_jct_s += share * score.avg_jct_s / theirs.avg_jct_s;
    ratio.p99_jct_s += share * score.p99_jct_s / theirs.p99_jct_s;
    ratio.makespan_s += share * score.makespan_s / theirs.makespan_s;
    bound += share * score.jct_bound_s.value_or(0) / theirs.avg_jct_s;
    gap = std::max(gap, score.gap_p99.value_or(0));
    unfair = std::max(unfair, score.ftf_worst);
  }
  const auto told = std::find_if(kTold.begin(), kTold.end(), [&](const auto& row) { return row.first == first->told; });
  const nlohmann::ordered_json line{
      {"bench", "tidal_quality"},
      {"metric", "avg_jct_load_" + first->load + "_restart_" + std::to_string(first->restart_s) + "s_" + told->second},
      {"value", ours_s},
      {"unit", "s"},
      {"baseline", published_s},
      {"ratio", ratio.avg_jct_s},
      {"p99_ratio", ratio.p99_jct_s},
      {"makespan_ratio", ratio.makespan_s},
      {"ftf_worst", unfair},
      {"bound_ratio", bound},
      {"gap_p99", gap}};
  std::printf("%s\n", line.dump().c_str());
}

}  // namespace
}  // namespace tidepool

int main() {
  using namespace tidepool;
  const auto data = test::published_data("pollux_osdi21", stderr);
  if (!data) return 0;
  const auto profiles = test::read_profiles(*data / "traces");
  std::vector<Case> cases = all_cases(*data);
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      for (std::size_t at = next++; at < cases.size(); at = next++) cases[at].report = run(cases[at], profiles);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t at = 0; at < cases.size(); at += kWorkloads.size()) print(&cases[at]);
  return 0;
}
