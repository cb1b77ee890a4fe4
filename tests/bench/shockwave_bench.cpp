// Shockwave's window as two programs for the same solver: with a binary for each job and round, as published, and with
// one whole number for each job, as the policy has it. One JSON line per program, size of cluster and number of jobs:
// how long it took, and how far the welfare of its answer lies below the whole-number program's (which bounds it, but
// for the gap that both may leave). Both stop at the same number of nodes.
//
//   tools/bench shockwave
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/rng.hpp"
#include "studies/baselines/shockwave.hpp"

namespace tidepool {
namespace {

namespace cluster = policies::cluster;
using policies::LinearProgram;

// Jobs of some hours, as in the traces of that paper: most on one slot, some on 2, 4 or 8; a third has just come.
cluster::WelfareProgram random_window(int slots, int jobs, Rng& rng) {
  cluster::WelfareProgram program{.jobs = {},
                                  .slots = slots,
                                  .rounds = cluster::Shockwave::kRounds,
                                  .round_s = cluster::Shockwave::kRound.to_seconds(),
                                  .makespan_weight = cluster::Shockwave::kMakespan,
                                  .limits = {}};
  for (int i = 0; i < jobs; ++i) {
    const double all_s = 600 + rng.exponential(10'000);
    const double done = rng.chance(0.33) ? 0 : rng.uniform();
    program.jobs.push_back({.slots = rng.chance(0.6) ? 1 : 2 << rng.below(3),
                            .left_s = std::max(1.0, all_s * (1 - done)),
                            .all_s = all_s,
                            .weight = rng.chance(0.2) ? 1 + 9 * rng.uniform() : 1});
  }
  return program;
}

double welfare_of(const cluster::WelfareProgram& program, const std::vector<double>& run_s) {
  double welfare = 0;
  double longest_s = 0;
  for (std::size_t i = 0; i < run_s.size(); ++i) {
    const cluster::WelfareJob& job = program.jobs[i];
    const double left_s = job.left_s - std::min(run_s[i], job.left_s);
    welfare += job.weight * cluster::log_of_progress(1 - left_s / job.all_s);
    longest_s = std::max(longest_s, left_s);
  }
  return welfare / (double(program.jobs.size()) * program.rounds) - program.makespan_weight * longest_s;
}

// The published program: x_jt says whether job j runs in round t. Returns seconds run by job; empty = no answer.
std::vector<double> solve_by_rounds(const cluster::WelfareProgram& program) {
  constexpr std::array kBases = {0.0, 0.2, 0.4, 0.6, 0.8, 1.0};
  LinearProgram linear;
  std::vector<std::size_t> whole;
  const std::size_t longest = linear.add(LinearProgram::Column{.objective = -program.makespan_weight});
  std::vector<LinearProgram::Row> room(static_cast<std::size_t>(program.rounds),
                                       {.terms = {}, .high = double(program.slots)});
  for (const cluster::WelfareJob& job : program.jobs) {
    LinearProgram::Row run;
    const double done = 1 - job.left_s / job.all_s;
    for (std::size_t base = 0; base + 1 < kBases.size(); ++base) {
      const double from = std::max(kBases[base], done);
      if (from >= kBases[base + 1]) continue;
      const double slope = (cluster::log_of_progress(kBases[base + 1]) - cluster::log_of_progress(kBases[base])) /
                           (kBases[base + 1] - kBases[base]);
      const double counts = job.weight / (double(program.jobs.size()) * program.rounds);
      const std::size_t piece =
          linear.add(LinearProgram::Column{.objective = counts * slope, .high = kBases[base + 1] - from});
      run.terms.push_back({.column = piece, .factor = job.all_s});
    }
    LinearProgram::Row left = run;
    left.terms.push_back({.column = longest, .factor = 1});
    left.low = job.left_s;
    linear.add(std::move(left));
    for (LinearProgram::Row& round : room) {
      const std::size_t runs = linear.add(LinearProgram::Column{.high = 1});
      whole.push_back(runs);
      round.terms.push_back({.column = runs, .factor = double(job.slots)});
      run.terms.push_back({.column = runs, .factor = -program.round_s});
    }
    run.high = 0;
    linear.add(std::move(run));
  }
  for (LinearProgram::Row& round : room) linear.add(std::move(round));
  const policies::LinearAnswer answer = policies::maximize_whole(linear, whole, program.limits);
  std::vector<double> run_s;
  for (std::size_t i = 0; i < whole.size() && !answer.values.empty(); ++i) {
    if (i % static_cast<std::size_t>(program.rounds) == 0) run_s.push_back(0);
    run_s.back() += answer.values[whole[i]] * program.round_s;
  }
  return run_s;
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void print(const std::string& metric, double value, const std::string& unit) {
  const nlohmann::ordered_json line{{"bench", "shockwave"}, {"metric", metric}, {"value", value}, {"unit", unit}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

void measure(int slots, int jobs) {
  Rng rng(static_cast<std::uint64_t>(1'000 * slots + jobs));
  const cluster::WelfareProgram program = random_window(slots, jobs, rng);
  const std::string size = "_" + std::to_string(slots) + "_slots_" + std::to_string(jobs) + "_jobs";
  cluster::WelfareAnswer whole;
  print("whole_number" + size, seconds_of([&] { whole = cluster::solve(program); }), "s");
  std::vector<double> run_s;
  print("binary" + size, seconds_of([&] { run_s = solve_by_rounds(program); }), "s");
  if (run_s.empty()) {
    print("binary_without_answer" + size, 1, "programs");
  } else {
    print("binary_short_of_whole_number" + size, whole.welfare - welfare_of(program, run_s), "welfare");
  }
}

}  // namespace
}  // namespace tidepool

int main() {
  for (const int slots : {64, 256}) {
    for (const int jobs : {50, 200}) tidepool::measure(slots, jobs);
  }
}
