// How soon the straggler detectors name a slow worker, what they name in noise alone, and how much throughput comes
// back when the named worker is replaced by the scheduler's rule. On compute times recorded in real runs (tests/data),
// played back in random order; the paper's rule is the baseline of the others.
// usage: straggler_bench [oracle]     oracle: only how soon somebody could who knows the recording
// (straggler_oracle.hpp)
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
#include "tests/support/judged_crew.hpp"
#include "tests/support/recorded_noise.hpp"

namespace {

using tidepool::straggler::Entry;
using tidepool::straggler::kDetectors;
using tidepool::test::ComputeTimes;
using tidepool::test::JudgedCrew;
using tidepool::test::RecordedNoise;

constexpr const char* kRecordings[] = {"compute_us_2_ranks_calm",       "compute_us_4_ranks_calm",
                                       "compute_us_2_ranks_busy",       "compute_us_4_ranks_busy",
                                       "compute_us_2_ranks_busier",     "compute_us_3_ranks_busier",
                                       "compute_us_4_ranks_busier",     "compute_us_2_ranks_busy_again",
                                       "compute_us_3_ranks_busy_again", "compute_us_4_ranks_busy_again"};
constexpr double kSlowness[] = {1.1, 1.25, 1.5, 2, 4};
constexpr int kNoiseSteps = 100'000;
constexpr int kHealthySteps = 300;  // before a worker turns slow
constexpr int kSlowSteps = 2'000;   // for so long
constexpr int kRuns = 100;
constexpr int kOracleSteps = 60;
constexpr int kStepsAsked = 10;  // within which a worker 1.5 times slower should be named

// What a replacement costs in this model: the trainer's boot and pause as measured on processes.
constexpr double kBootSeconds = 1;
constexpr double kPauseSeconds = 0.02;
constexpr double kAgreementSeconds = 0.002;  // a change of shares, as measured
constexpr int kStreak = 10;                  // core/straggler_patience.hpp

struct NoiseResult {
  int alarms = 0;
  double share_of_time = 0;  // rank-steps under a name
};

NoiseResult noise_only(const Entry& entry, const ComputeTimes& recorded) {
  RecordedNoise noise(recorded, 1);
  JudgedCrew crew(entry.make(), noise.ranks());
  std::vector<bool> named(noise.ranks());
  NoiseResult result;
  int named_steps = 0;
  for (int step = 0; step < kNoiseSteps; ++step) {
    crew.step(noise.next());
    for (std::size_t rank = 0; rank < noise.ranks(); ++rank) {
      const bool slow = crew.of(rank).slow;
      if (slow && !named[rank]) ++result.alarms;
      named_steps += slow ? 1 : 0;
      named[rank] = slow;
    }
  }
  result.share_of_time = static_cast<double>(named_steps) / kNoiseSteps / static_cast<double>(noise.ranks());
  return result;
}

double slowest_s(const std::vector<std::int64_t>& compute_us) {
  return static_cast<double>(*std::max_element(compute_us.begin(), compute_us.end())) * 1e-6;
}

// The worker's smaller share by the scheduler's rule, with nobody to take its place: how long each step takes then.
// Compute times go with the samples.
class EasedCrew {
 public:
  EasedCrew(std::size_t ranks, std::size_t slow) : ranks_(static_cast<double>(ranks)), slow_(slow) {}

  // The step at these times, if shares were even.
  [[nodiscard]] double step_s(std::vector<std::int64_t> times) const {
    const double all = ranks_ - 1 + weight_;
    for (std::size_t rank = 0; rank < times.size(); ++rank) {
      const double share = (rank == slow_ ? weight_ : 1) * ranks_ / all;
      times[rank] = static_cast<std::int64_t>(static_cast<double>(times[rank]) * share);
    }
    return slowest_s(times);
  }
  // A step of a worker that is named; `due`: waiting for it has cost as much as a change of shares.
  void see(const std::vector<std::int64_t>& times, bool due) {
    if (weight_ < 1) return;
    ++steps_;
    own_us_ += (static_cast<double>(times[slow_]) - own_us_) / steps_;
    std::vector<std::int64_t> others = times;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(slow_));
    std::sort(others.begin(), others.end());
    others_us_ += (static_cast<double>(others[others.size() / 2]) - others_us_) / steps_;
    if (due && steps_ >= kStepsToWeigh) weight_ = std::min(1.0, others_us_ / own_us_);
  }
  void forget() { steps_ = 0; }

 private:
  static constexpr double kStepsToWeigh = 8;  // core/rebalance_planner.hpp
  double ranks_;
  std::size_t slow_;
  double weight_ = 1;
  double steps_ = 0;
  double own_us_ = 0;
  double others_us_ = 0;
};

struct RunResult {
  std::optional<int> named_after;  // steps
  double healthy_s = 0;            // the same steps with nobody slow
  double slow_s = 0;               // with nobody replaced
  double mended_s = 0;             // with the slow one replaced by the rule
  double eased_s = 0;              // with a smaller share of it by the rule, and never replaced
};

// One worker turns `slowness` times slower and stays so. The rule: when the others have waited as long as the action
// costs, a newcomer boots beside the job; then there is a pause, and the worker is healthy.
RunResult slow_run(const Entry& entry, const ComputeTimes& recorded, double slowness, std::uint64_t seed) {
  RecordedNoise noise(recorded, seed);
  JudgedCrew crew(entry.make(), noise.ranks());
  for (int step = 0; step < kHealthySteps; ++step) crew.step(noise.next());
  const std::size_t slow = seed % noise.ranks();
  const double cost_s = kBootSeconds + static_cast<double>(noise.ranks()) * kPauseSeconds;
  RunResult run;
  double waited_s = 0;
  int streak = 0;
  std::optional<double> newcomer_at;
  bool mended = false;
  EasedCrew eased(noise.ranks(), slow);
  for (int step = 1; step <= kSlowSteps; ++step) {
    const std::vector<std::int64_t> healthy = noise.next();
    std::vector<std::int64_t> times = healthy;
    times[slow] = static_cast<std::int64_t>(static_cast<double>(times[slow]) * slowness);
    run.healthy_s += slowest_s(healthy);
    run.slow_s += slowest_s(times);
    run.mended_s += slowest_s(mended ? healthy : times);
    run.eased_s += eased.step_s(times);
    if (mended) continue;
    if (newcomer_at && run.mended_s >= *newcomer_at) {
      mended = true;
      run.mended_s += kPauseSeconds;
      continue;
    }
    const auto& found = crew.step(times)[slow];
    if (!found.slow) {
      streak = 0;
      waited_s = 0;
      eased.forget();
      continue;
    }
    if (!run.named_after) run.named_after = step;
    double wait_s = 0;
    for (const auto other : times) wait_s += static_cast<double>(std::max<std::int64_t>(0, times[slow] - other)) * 1e-6;
    waited_s += streak == 0 ? wait_s * found.steps : wait_s;
    streak = std::max(streak + 1, found.steps);
    eased.see(times, streak >= kStreak && waited_s >= static_cast<double>(noise.ranks()) * kAgreementSeconds);
    const bool due = streak >= kStreak && waited_s >= cost_s;
    if (due && !newcomer_at) newcomer_at = run.mended_s + kBootSeconds;
  }
  return run;
}

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
    const RunResult run = slow_run(entry, recorded, slowness, seed);
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

void run_recording(const char* recording) {
  const ComputeTimes recorded = tidepool::test::read_compute_times(recording);
  for (const Entry& entry : kDetectors) {
    const NoiseResult noise = noise_only(entry, recorded);
    print({{"slowness", 1}, {"steps", kNoiseSteps}, {"alarms", noise.alarms}, {"time_named", noise.share_of_time}},
          recording, entry);
    for (const double slowness : kSlowness) print(slow_line(entry, recorded, slowness), recording, entry);
  }
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

}  // namespace

int main(int count, char** arguments) {
  const std::string mode = count > 1 ? arguments[1] : "";
  if (count > 2 || (count == 2 && mode != "oracle")) {
    std::fprintf(stderr, "straggler_bench: the only argument there is is oracle\n");
    return 2;
  }
  try {
    for (const char* recording : kRecordings) mode == "oracle" ? run_oracle(recording) : run_recording(recording);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "straggler_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
