#include "tests/bench/straggler_playback.hpp"

#include <algorithm>
#include <vector>

#include "core/decide/rebalance_planner.hpp"
#include "core/facts/training/straggler_facts.hpp"
#include "core/state/measured/straggler_patience.hpp"
#include "tests/support/judged_crew.hpp"

namespace tidepool::test {
namespace {

constexpr int kHealthySteps = 300;  // before a worker turns slow

// What a replacement costs in this model: the trainer's boot and pause as measured on processes.
constexpr double kBootSeconds = 1;
constexpr double kPauseSeconds = 0.02;
constexpr double kAgreementSeconds = 0.002;  // a change of shares, as measured

double slowest_s(const std::vector<std::int64_t>& compute_us) {
  return static_cast<double>(*std::max_element(compute_us.begin(), compute_us.end())) * 1e-6;
}

// The worker's smaller share by the scheduler's rule, with no worker to take its place: how long each step takes then.
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
    if (due && steps_ >= static_cast<double>(core::kStepsToWeigh)) weight_ = std::min(1.0, others_us_ / own_us_);
  }
  void forget() { steps_ = 0; }

 private:
  double ranks_;
  std::size_t slow_;
  double weight_ = 1;
  double steps_ = 0;
  double own_us_ = 0;
  double others_us_ = 0;
};

}  // namespace

NoiseResult noise_only(const straggler::Entry& entry, const ComputeTimes& recorded, std::uint64_t seed, int steps) {
  RecordedNoise noise(recorded, seed);
  JudgedCrew crew(entry.make(), noise.ranks());
  std::vector<bool> named(noise.ranks());
  NoiseResult result;
  int named_steps = 0;
  for (int step = 0; step < steps; ++step) {
    crew.step(noise.next());
    for (std::size_t rank = 0; rank < noise.ranks(); ++rank) {
      const bool slow = crew.of(rank).slow;
      if (slow && !named[rank]) ++result.alarms;
      named_steps += slow ? 1 : 0;
      named[rank] = slow;
    }
  }
  result.share_of_time = static_cast<double>(named_steps) / steps / static_cast<double>(noise.ranks());
  return result;
}

SlowResult slow_run(const straggler::Entry& entry, const ComputeTimes& recorded, double slowness, std::uint64_t seed) {
  RecordedNoise noise(recorded, seed);
  JudgedCrew crew(entry.make(), noise.ranks());
  for (int step = 0; step < kHealthySteps; ++step) crew.step(noise.next());
  const std::size_t slow = seed % noise.ranks();
  const double cost_s = kBootSeconds + static_cast<double>(noise.ranks()) * kPauseSeconds;
  SlowResult run;
  core::StragglerTrack track;
  std::optional<double> joining_worker_at;
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
    if (joining_worker_at && run.mended_s >= *joining_worker_at) {
      mended = true;
      run.mended_s += kPauseSeconds;
      continue;
    }
    const auto& found = crew.step(times)[slow];
    core::take_in(track, {found.speed, found.bar, found.slow, found.steps}, {times, slow});
    if (!found.slow) {
      eased.forget();
      continue;
    }
    if (!run.named_after) run.named_after = step;
    const bool lasts = track.slow_steps >= core::kStragglerStreak;
    eased.see(times, lasts && track.waited_s >= static_cast<double>(noise.ranks()) * kAgreementSeconds);
    if (lasts && track.waited_s >= cost_s && !joining_worker_at) joining_worker_at = run.mended_s + kBootSeconds;
  }
  return run;
}

}  // namespace tidepool::test
