// What jobs that have ended are worth to a daemon whose users declare nothing: the live engine on programs that are run
// again and again. Beside it the same jobs with samples of other sizes, so that all of them have one pace and it tells
// nothing of their work; in seconds nothing else differs.
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <string>

#include "base/rng.hpp"
#include "studies/sim_run.hpp"

namespace tidepool {
namespace {

enum class Paces { kOfPrograms, kAlike };

// Six programs, from five minutes to eight hours on one slot; each run takes about as long as the others of it.
std::string workload(std::uint64_t seed, Paces paces) {
  constexpr std::array kMinutes{5, 480, 12, 180, 30, 60};
  constexpr int kJobs = 90;
  Rng rng(seed);
  double at_s = 0;
  std::string csv = "name,tenant,submit_s,priority,min,max,preferred,batch,samples,samples_per_second,sigma,kappa\n";
  for (int i = 0; i < kJobs; ++i) {
    const std::size_t program = rng.below(kMinutes.size());
    const std::int64_t unit = paces == Paces::kAlike ? 1 : std::int64_t{1} << program;
    const std::int64_t steps = std::int64_t(kMinutes[program] * 60 * std::exp(0.1 * rng.normal())) + 1;
    at_s += rng.exponential(200);
    csv += "job-" + std::to_string(i) + ",t," + std::to_string(at_s) + ",0,1,8,1," + std::to_string(64 * unit) + "," +
           std::to_string(64 * unit * steps) + "," + std::to_string(64 * unit) + ",0.05,0.001\n";
  }
  return csv;
}

double average_s(std::uint64_t seed, Paces paces, bool undeclared) {
  const auto report = sim::run({.workload = "programs",
                                .workload_csv = workload(seed, paces),
                                .cluster = "3x4",
                                .policy = "tidal",
                                .undeclared_work = undeclared});
  INFO((report.ok() ? std::string() : report.error().message));
  REQUIRE(report.ok());
  REQUIRE(report->score.completed == report->score.jobs);
  return report->score.avg_jct_s;
}

}  // namespace

TEST_CASE("where users declare nothing, jobs that ended make those as fast wait in a better order") {
  double by_pace_s = 0;
  double blind_s = 0;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const double one = average_s(seed, Paces::kOfPrograms, true);
    const double other = average_s(seed, Paces::kAlike, true);
    WARN("seed " << seed << ": by pace " << one << " s, blind " << other << " s");
    by_pace_s += one;
    blind_s += other;
  }
  CHECK(by_pace_s < 0.9 * blind_s);
}

TEST_CASE("where users declare their work, the sizes of samples make no difference") {
  CHECK(average_s(1, Paces::kOfPrograms, false) == average_s(1, Paces::kAlike, false));
}

}  // namespace tidepool
