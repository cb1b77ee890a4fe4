// How soon the straggler detectors name a slow worker, what they name in noise alone, and how much throughput comes
// back when the named worker is replaced by the scheduler's rule. On compute times recorded in real runs (tests/data),
// played back in random order; the paper's rule is the baseline of the others.
// usage: straggler_bench [WHAT]
//   table   all that, of all detectors; the default
//   seeds   what the default detector names in noise alone, in other drawings of the playback
//   cold    the same of crews that have just begun, whose noise is not known yet
//   oracle  how soon a detector could name that knows the recording (straggler_oracle.hpp)
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "straggler/registry.hpp"
#include "tests/bench/straggler_oracle.hpp"
#include "tests/bench/straggler_playback.hpp"
#include "tests/support/recorded_noise.hpp"

namespace {

using tidepool::straggler::Entry;
using tidepool::straggler::kDetectors;
using tidepool::test::ComputeTimes;
using tidepool::test::kSlowSteps;
using tidepool::test::noise_only;

constexpr const char* kRecordings[] = {"compute_us_2_ranks_calm",       "compute_us_4_ranks_calm",
                                       "compute_us_2_ranks_busy",       "compute_us_4_ranks_busy",
                                       "compute_us_2_ranks_busier",     "compute_us_3_ranks_busier",
                                       "compute_us_4_ranks_busier",     "compute_us_2_ranks_busy_again",
                                       "compute_us_3_ranks_busy_again", "compute_us_4_ranks_busy_again"};
constexpr double kSlowness[] = {1.1, 1.25, 1.5, 2, 4};
constexpr int kNoiseSteps = 100'000;
constexpr int kRuns = 100;
constexpr int kSeeds = 5;
constexpr int kColdSteps = 500;
constexpr int kOracleSteps = 60;
constexpr int kStepsAsked = 10;  // within which a worker 1.5 times slower should be named

nlohmann::json quantile(std::vector<int> steps, double share, int missed) {
  steps.resize(steps.size() + static_cast<std::size_t>(missed), kSlowSteps + 1);
  std::sort(steps.begin(), steps.end());
  const int value = steps[static_cast<std::size_t>(share * static_cast<double>(steps.size() - 1))];
  return value > kSlowSteps ? nlohmann::json(nullptr) : nlohmann::json(value);
}

nlohmann::json slow_line(const Entry& entry, const ComputeTimes& recorded, double slowness) {
  std::vector<int> named;
  int missed = 0;
  double lost_s = 0;
  double regained_s = 0;
  double by_share_s = 0;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    const auto run = tidepool::test::slow_run(entry, recorded, slowness, seed);
    if (run.named_after) {
      named.push_back(*run.named_after);
    } else {
      ++missed;
    }
    lost_s += run.slow_s - run.healthy_s;
    regained_s += run.slow_s - run.mended_s;
    by_share_s += run.slow_s - run.eased_s;
  }
  return {
      {"slowness", slowness}, {"steps_p50", quantile(named, 0.5, missed)}, {"steps_p90", quantile(named, 0.9, missed)},
      {"missed", missed},     {"regained", regained_s / lost_s},           {"regained_by_share", by_share_s / lost_s}};
}

void print(nlohmann::json line, const char* recording, const Entry& entry) {
  line["bench"] = "straggler";
  line["recording"] = recording;
  line["detector"] = entry.name;
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

void run_table(const char* recording) {
  const ComputeTimes recorded = tidepool::test::read_compute_times(recording);
  for (const Entry& entry : kDetectors) {
    const auto noise = noise_only(entry, recorded, 1, kNoiseSteps);
    print({{"slowness", 1}, {"steps", kNoiseSteps}, {"alarms", noise.alarms}, {"time_named", noise.share_of_time}},
          recording, entry);
    for (const double slowness : kSlowness) print(slow_line(entry, recorded, slowness), recording, entry);
  }
}

const Entry& default_detector() {
  return *std::find_if(kDetectors.begin(), kDetectors.end(),
                       [](const Entry& entry) { return entry.name == tidepool::straggler::kDefaultDetector; });
}

// The table is of seed 1.
void run_seeds(const char* recording) {
  const ComputeTimes recorded = tidepool::test::read_compute_times(recording);
  const Entry& entry = default_detector();
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto noise = noise_only(entry, recorded, seed, kNoiseSteps);
    print({{"seed", seed}, {"steps", kNoiseSteps}, {"alarms", noise.alarms}, {"time_named", noise.share_of_time}},
          recording, entry);
  }
}

void run_cold(const char* recording) {
  const ComputeTimes recorded = tidepool::test::read_compute_times(recording);
  const Entry& entry = default_detector();
  int runs_with_alarm = 0;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    runs_with_alarm += noise_only(entry, recorded, seed, kColdSteps).alarms > 0 ? 1 : 0;
  }
  print({{"first_steps", kColdSteps}, {"runs", kRuns}, {"runs_with_alarm", runs_with_alarm}}, recording, entry);
}

// The fewest steps after which the oracle tells so many of the onsets apart; null = not within kOracleSteps.
void run_oracle(const char* recording) {
  const ComputeTimes recorded = tidepool::test::read_compute_times(recording);
  for (const double slowness : {1.1, 1.5}) {
    nlohmann::json line = {{"bench", "straggler"}, {"detector", "oracle"}, {"recording", recording},
                           {"slowness", slowness}, {"steps_p50", nullptr}, {"steps_p90", nullptr}};
    for (int steps = 1; steps <= kOracleSteps && line["steps_p90"].is_null(); steps += steps < 20 ? 1 : 5) {
      const double told = tidepool::test::share_told_apart(recorded, slowness, steps);
      if (steps == kStepsAsked) line["told_within_10"] = told;
      if (told >= 0.5 && line["steps_p50"].is_null()) line["steps_p50"] = steps;
      if (told >= 0.9) line["steps_p90"] = steps;
    }
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  }
}

struct What {
  const char* name;
  void (*run)(const char* recording);
};
constexpr What kWhat[] = {{"table", run_table}, {"seeds", run_seeds}, {"cold", run_cold}, {"oracle", run_oracle}};

}  // namespace

int main(int count, char** arguments) {
  const std::string asked = count > 1 ? arguments[1] : kWhat[0].name;
  const auto what =
      std::find_if(std::begin(kWhat), std::end(kWhat), [&](const What& one) { return one.name == asked; });
  if (count > 2 || what == std::end(kWhat)) {
    std::fprintf(stderr, "usage: straggler_bench [table|seeds|cold|oracle]\n");
    return 2;
  }
  try {
    for (const char* recording : kRecordings) what->run(recording);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "straggler_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
