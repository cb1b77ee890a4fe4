#include "straggler/change_point_detector.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "straggler/recent_times.hpp"

namespace tidepool::straggler {
namespace {

using Scale = ChangePointDetector::Scale;
constexpr const auto& kScales = ChangePointDetector::kScales;
constexpr std::size_t kScaleCount = kScales.size();
using PerScale = std::array<double, kScaleCount>;

// Places in a memory. Of windows that may count as noise: how many steps they rest on, and by scale the sum of their
// squared distances from the usual x, over the window's length; what is learned, what waits, and what is still coming
// in.
enum Place : std::size_t {
  kMark,
  kSteps,
  kLevel,
  kUsual,
  kSpread,
  kNamedBy,
  kStepsSlow,
  kSpeed,
  kBar,
  kLearnedSteps,
  kWaitingSteps,
  kComingSteps,
  kLearned,
  kWaiting = kLearned + kScaleCount,
  kComing = kWaiting + kScaleCount,
  kLeft = kComing + kScaleCount,  // steps until a suspicion is verified, 0 = none
  kRing = kLeft + kScaleCount
};
constexpr std::int64_t kRingSteps = kScales.back().window;
constexpr std::size_t kPlaces = kRing + static_cast<std::size_t>(kRingSteps);
constexpr double kMarkOfRule = 4;

constexpr double kMadToDeviation = 1.4826;  // of a normal distribution
constexpr double kClipDeviations = 2.5;     // beyond it a step says no more
constexpr double kClipShifts = 1.5;         // but a shift that is looked for must not be clipped away
constexpr double kSpreadMin = 0.002;        // of x; from which it can grow again
constexpr std::int64_t kSpreadSteps = 32;   // until then the spread is that of all steps
constexpr double kUsualSteps = 500;         // memory of the usual x
constexpr double kUsualClip = 0.7;          // of x there
constexpr double kNoiseSteps = 8'000;       // memory of the noise
constexpr double kInflation = 1.5;          // of the variance of a window's mean over independent steps', at first,
constexpr double kFirstWindows = 8;         // which is worth so many windows
constexpr double kSurpriseMax = 3;          // a window counts at most this many S,
constexpr double kSlowSurpriseMax = 2;      // and on the slow side: it may be a straggler's
constexpr double kDoubtSteps = 95;          // with n steps of noise learned the variance is asked for
constexpr double kDoubtFade = 50;           // (1 + (kDoubtSteps / (kDoubtFade + n))^3) times
constexpr std::int64_t kWaitSteps = 128;    // until what came in waits, and then is learned
constexpr double kConfirmShare = 0.75;      // of the bar, that the verifying steps must exceed
constexpr std::int64_t kHoldSteps = 30;     // shortest window that keeps a name
constexpr std::int64_t kLevelSteps = 40;    // window of the level
constexpr double kLevelWeight = 0.1;        // of a new window in it
constexpr double kLevelStepMax = 0.02;      // most that one window counts

bool is_own(const Memory& memory) {
  return memory.size() == kPlaces && memory[kMark] == kMarkOfRule;
}

double difference_of(double relative) {
  return 2 * (relative - 1) / (relative + 1);
}

double speed_of(double difference) {
  return (2 - difference) / (2 + difference);
}

// One worker's memory with names.
class Worker {
 public:
  explicit Worker(Memory& memory) : memory_(memory) {
    if (is_own(memory)) return;
    memory.assign(kPlaces, 0);
    memory[kMark] = kMarkOfRule;
    memory[kSpread] = kSpreadMin;
    memory[kSpeed] = 1;
  }

  [[nodiscard]] bool slow() const { return memory_[kNamedBy] > 0; }
  [[nodiscard]] double steps_learned() const { return memory_[kLearnedSteps]; }

  void take(double difference);
  // The variance of a window's mean, by this worker's own steps.
  [[nodiscard]] PerScale variances() const;
  // `variances`: what is asked for, of this worker and the crew.
  void judge(const PerScale& variances);
  // The step's windows come in as noise.
  void learn(const PerScale& variances);
  void forget_suspects();
  void show(const PerScale& variances);

 private:
  [[nodiscard]] RecentTimes recent() const {
    return {std::span<double>(memory_).subspan(kRing), static_cast<std::int64_t>(memory_[kSteps])};
  }
  [[nodiscard]] double clip(const Scale& scale) const {
    return std::max(kClipShifts * scale.shift, kClipDeviations * kMadToDeviation * memory_[kSpread]);
  }
  [[nodiscard]] double mean(std::int64_t steps, const Scale& scale) const {
    return recent().clipped_mean(steps, memory_[kLevel], clip(scale));
  }
  // The mean of each scale's window that is full, at the level that the step began with.
  [[nodiscard]] const PerScale& window_means();
  [[nodiscard]] std::int64_t steps_slow() const { return static_cast<std::int64_t>(memory_[kStepsSlow]); }
  [[nodiscard]] static double bar(std::size_t scale, const PerScale& variances) {
    return std::max(kScales[scale].shift, ChangePointDetector::kDeviations * std::sqrt(variances[scale]));
  }
  void test(std::size_t scale, double bar);
  void hold();
  void follow_level();

  Memory& memory_;
  std::optional<PerScale> window_means_;  // most steps ask for them twice
};

const PerScale& Worker::window_means() {
  if (window_means_) return *window_means_;
  std::array<std::int64_t, kScaleCount> windows{};
  PerScale clips{};
  std::size_t known = 0;
  for (std::size_t scale = 0; scale < kScaleCount; ++scale) {
    windows[scale] = kScales[scale].window;
    clips[scale] = clip(kScales[scale]);
    if (windows[scale] <= recent().count()) known = scale + 1;
  }
  return window_means_.emplace(recent().clipped_means<kScaleCount>(windows, clips, known, memory_[kLevel]));
}

void Worker::take(double difference) {
  recent().push(difference);
  ++memory_[kSteps];
  const double clipped = std::clamp(difference, -kUsualClip, kUsualClip);
  memory_[kUsual] += (clipped - memory_[kUsual]) / std::min(memory_[kSteps], kUsualSteps);
  if (recent().count() <= kSpreadSteps) {
    memory_[kSpread] = recent().distance(memory_[kUsual]);
  } else {
    // A median that is followed: a little up for each value above it, a little down for each below.
    const double gain = 1 / std::min(memory_[kSteps], kNoiseSteps);
    memory_[kSpread] *= std::abs(difference - memory_[kUsual]) > memory_[kSpread] ? 1 + gain : 1 - gain;
  }
  memory_[kSpread] = std::max(memory_[kSpread], kSpreadMin);
}

PerScale Worker::variances() const {
  PerScale found{};
  const double of_step = kInflation * kMadToDeviation * kMadToDeviation * memory_[kSpread] * memory_[kSpread];
  for (std::size_t scale = 0; scale < kScaleCount; ++scale) {
    const auto window = static_cast<double>(kScales[scale].window);
    const double windows = memory_[kLearnedSteps] / window;
    found[scale] = (kFirstWindows * of_step / window + memory_[kLearned + scale]) / (kFirstWindows + windows);
  }
  return found;
}

void Worker::test(std::size_t scale, double bar) {
  const Scale& rule = kScales[scale];
  double& left = memory_[kLeft + scale];
  if (left > 0) {
    if (--left > 0 || mean(rule.verify, rule) <= kConfirmShare * bar) return;
    memory_[kNamedBy] = static_cast<double>(scale + 1);
    // The window crossed its bar when about half of it was slow.
    const std::int64_t since_half = rule.window / 2;
    memory_[kStepsSlow] = static_cast<double>(since_half + rule.verify);
    return;
  }
  if (recent().count() < rule.window ||
      memory_[kSteps] + static_cast<double>(rule.verify) < static_cast<double>(ChangePointDetector::kStepsForVerdict)) {
    return;
  }
  if (window_means()[scale] > bar) left = static_cast<double>(rule.verify);
}

void Worker::hold() {
  ++memory_[kStepsSlow];
  const Scale& rule = kScales[static_cast<std::size_t>(memory_[kNamedBy]) - 1];
  const std::int64_t window = std::min(std::max(kHoldSteps, rule.window), steps_slow());
  if (mean(std::min(window, recent().count()), rule) > rule.shift / 2) return;
  memory_[kNamedBy] = 0;
  memory_[kStepsSlow] = 0;
}

void Worker::judge(const PerScale& variances) {
  if (slow()) return hold();
  for (std::size_t scale = 0; scale < kScaleCount && !slow(); ++scale) test(scale, bar(scale, variances));
  if (slow()) std::fill_n(memory_.begin() + kLeft, kScaleCount, 0.0);
}

void Worker::follow_level() {
  if (static_cast<std::int64_t>(memory_[kSteps]) % kLevelSteps != 0 || recent().count() < kLevelSteps) return;
  const double off = mean(kLevelSteps, kScales.back());
  memory_[kLevel] += kLevelWeight * std::clamp(off, -kLevelStepMax, kLevelStepMax);
  memory_[kLevel] = std::clamp(memory_[kLevel], ChangePointDetector::kLevelMin, ChangePointDetector::kLevelMax);
}

void Worker::learn(const PerScale& variances) {
  for (std::size_t scale = 0; scale < kScaleCount; ++scale) {
    const Scale& rule = kScales[scale];
    if (recent().count() < rule.window) break;
    const double deviation = std::sqrt(variances[scale]);
    const double off = window_means()[scale] + memory_[kLevel] - memory_[kUsual];
    const double counted = std::clamp(off, -kSurpriseMax * deviation, kSlowSurpriseMax * deviation);
    memory_[kComing + scale] += counted * counted / static_cast<double>(rule.window);
  }
  ++memory_[kComingSteps];
  follow_level();
  if (static_cast<std::int64_t>(memory_[kSteps]) % kWaitSteps != 0) return;
  const double kept = 1 - static_cast<double>(kWaitSteps) / kNoiseSteps;
  memory_[kLearnedSteps] = kept * memory_[kLearnedSteps] + memory_[kWaitingSteps];
  memory_[kWaitingSteps] = std::exchange(memory_[kComingSteps], 0);
  for (std::size_t scale = 0; scale < kScaleCount; ++scale) {
    memory_[kLearned + scale] = kept * memory_[kLearned + scale] + memory_[kWaiting + scale];
    memory_[kWaiting + scale] = std::exchange(memory_[kComing + scale], 0);
  }
}

void Worker::forget_suspects() {
  memory_[kWaitingSteps] = 0;
  memory_[kComingSteps] = 0;
  std::fill_n(memory_.begin() + kWaiting, 2 * kScaleCount, 0.0);
}

void Worker::show(const PerScale& variances) {
  const std::int64_t shown = slow() ? std::min(kHoldSteps, steps_slow()) : kHoldSteps;
  memory_[kSpeed] = speed_of(recent().median(std::min(recent().count(), shown)));
  memory_[kBar] = speed_of(std::min(1.0, memory_[kLevel] + bar(kScaleCount - 1, variances)));
}

PerScale medians_of(const std::vector<PerScale>& variances) {
  PerScale medians{};
  std::vector<double> values(variances.size());
  for (std::size_t scale = 0; scale < kScaleCount; ++scale) {
    for (std::size_t rank = 0; rank < values.size(); ++rank) values[rank] = variances[rank][scale];
    medians[scale] = median_in(values);
  }
  return medians;
}

// What each scale asks for: the worker's own variance or the crew's, whichever is more, with the doubt of few steps.
PerScale asked_for(const PerScale& own, const PerScale& crew, double steps_learned) {
  const double unknown = kDoubtSteps / (kDoubtFade + steps_learned);
  const double doubt = 1 + unknown * unknown * unknown;
  PerScale asked{};
  for (std::size_t scale = 0; scale < kScaleCount; ++scale) {
    asked[scale] = std::max(own[scale], crew[scale]) * doubt;
    if (scale == 0) continue;
    // Less would mean that steps take turns, which a short stretch of luck shows as well.
    const auto shorter = static_cast<double>(kScales[scale - 1].window);
    asked[scale] = std::max(asked[scale], asked[scale - 1] * shorter / static_cast<double>(kScales[scale].window));
  }
  return asked;
}

}  // namespace

std::vector<Finding> ChangePointDetector::observe(const std::vector<double>& relative,
                                                  const std::vector<Memory*>& memories) const {
  std::vector<Worker> workers;
  std::vector<PerScale> variances;
  std::vector<double> learned;
  workers.reserve(relative.size());
  variances.reserve(relative.size());
  learned.reserve(relative.size());
  for (std::size_t rank = 0; rank < relative.size(); ++rank) {
    workers.emplace_back(*memories[rank]).take(difference_of(relative[rank]));
    variances.push_back(workers.back().variances());
    learned.push_back(workers.back().steps_learned());
  }
  const PerScale crew = medians_of(variances);
  const double steps_learned = median_of(learned);
  bool any_slow = false;
  bool newly_named = false;
  for (std::size_t rank = 0; rank < workers.size(); ++rank) {
    variances[rank] = asked_for(variances[rank], crew, steps_learned);
    const bool before = workers[rank].slow();
    workers[rank].judge(variances[rank]);
    any_slow = any_slow || before || workers[rank].slow();
    newly_named = newly_named || (!before && workers[rank].slow());
  }
  std::vector<Finding> findings;
  findings.reserve(workers.size());
  for (std::size_t rank = 0; rank < workers.size(); ++rank) {
    if (newly_named) workers[rank].forget_suspects();
    if (!any_slow) workers[rank].learn(variances[rank]);
    workers[rank].show(variances[rank]);
    findings.push_back(recall(*memories[rank]));
  }
  return findings;
}

Finding ChangePointDetector::recall(const Memory& memory) const {
  if (!is_own(memory)) return {};
  return {.speed = memory[kSpeed],
          .bar = memory[kBar],
          .slow = memory[kNamedBy] > 0,
          .steps = static_cast<int>(std::min(memory[kStepsSlow], 1000.0))};
}

}  // namespace tidepool::straggler
