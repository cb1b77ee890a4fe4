#include "straggler/change_point_detector.hpp"

#include <algorithm>
#include <cmath>

#include "straggler/recent_times.hpp"

namespace tidepool::straggler {
namespace {

using Scale = ChangePointDetector::Scale;
constexpr const auto& kScales = ChangePointDetector::kScales;

// Of each scale: steps left until a suspicion is verified (0 = none), and D.
enum Place : std::size_t { kMark, kSteps, kLevel, kNamedBy, kStepsSlow, kSpread, kSpeed, kBar, kScale, kPerScale = 2 };
constexpr std::size_t kRing = kScale + kPerScale * kScales.size();
constexpr std::size_t kRingSteps = 32;
constexpr double kMarkOfRule = 3;

// Mean distance of the median of n normal values from their centre, times sqrt(n), in units of their MAD.
constexpr double kMedianDistance = 1.48;
constexpr double kLearning = 0.1;        // weight of a new window in D and in the level
constexpr double kSurpriseMax = 3;       // a window counts at most this many D, or a shift would become noise
constexpr double kDeviationMin = 0.002;  // from which D can grow again
constexpr double kLevelStepMax = 0.02;   // most that one window moves the level
constexpr std::int64_t kHoldSteps = 30;  // window that keeps a name

bool is_own(const Memory& memory) {
  return memory.size() == kRing + kRingSteps && memory[kMark] == kMarkOfRule;
}

// One worker's memory with names.
class Worker {
 public:
  explicit Worker(Memory& memory) : memory_(memory) {
    if (is_own(memory)) return;
    memory.assign(kRing + kRingSteps, 0);
    memory[kMark] = kMarkOfRule;
    memory[kLevel] = 1;
    memory[kSpeed] = 1;
  }

  void take(double relative);

 private:
  [[nodiscard]] RecentTimes recent() {
    return {std::span(memory_).subspan(kRing), static_cast<std::int64_t>(memory_[kSteps])};
  }
  [[nodiscard]] double& left(std::size_t scale) { return memory_[kScale + kPerScale * scale]; }
  [[nodiscard]] double& deviation(std::size_t scale) { return memory_[kScale + kPerScale * scale + 1]; }
  [[nodiscard]] bool slow() const { return memory_[kNamedBy] > 0; }
  [[nodiscard]] double bar(std::size_t scale);
  void test(std::size_t scale);
  void learn(std::size_t scale);
  void hold();

  Memory& memory_;
};

double Worker::bar(std::size_t scale) {
  const double by_steps = kMedianDistance * memory_[kSpread] / std::sqrt(static_cast<double>(kScales[scale].verify));
  const double noise = std::max(deviation(scale), by_steps);
  return memory_[kLevel] * (1 + std::max(kScales[scale].shift, ChangePointDetector::kDeviations * noise));
}

void Worker::test(std::size_t scale) {
  const Scale& window = kScales[scale];
  if (left(scale) > 0) {
    if (--left(scale) > 0) return;
    if (recent().median(window.verify) <= bar(scale)) return;
    memory_[kNamedBy] = static_cast<double>(scale + 1);
    const std::int64_t since_half = window.suspect / 2;
    memory_[kStepsSlow] = static_cast<double>(since_half + window.verify);
    return;
  }
  if (recent().count() < window.suspect || memory_[kSteps] < ChangePointDetector::kStepsForVerdict) return;
  if (recent().median(window.suspect) > bar(scale)) left(scale) = static_cast<double>(window.verify);
}

// At the end of each window of this length.
void Worker::learn(std::size_t scale) {
  const std::int64_t window = kScales[scale].verify;
  if (static_cast<std::int64_t>(memory_[kSteps]) % window != 0 || recent().count() < window) return;
  const double distance = recent().median(window) - memory_[kLevel];
  const double most = kSurpriseMax * std::max(deviation(scale), kDeviationMin);
  deviation(scale) += kLearning * (std::min(std::abs(distance), most) - deviation(scale));
  if (scale + 1 < kScales.size()) return;
  memory_[kLevel] += kLearning * std::clamp(distance, -kLevelStepMax, kLevelStepMax);
  memory_[kLevel] = std::clamp(memory_[kLevel], ChangePointDetector::kLevelMin, ChangePointDetector::kLevelMax);
}

void Worker::hold() {
  ++memory_[kStepsSlow];
  const auto scale = static_cast<std::size_t>(memory_[kNamedBy]) - 1;
  const std::int64_t window = std::min(kHoldSteps, static_cast<std::int64_t>(memory_[kStepsSlow]));
  if (recent().median(std::min(window, recent().count())) > memory_[kLevel] * (1 + kScales[scale].shift / 2)) return;
  memory_[kNamedBy] = 0;
  memory_[kStepsSlow] = 0;
}

void Worker::take(double relative) {
  recent().push(relative);
  ++memory_[kSteps];
  memory_[kSpread] = recent().spread();
  if (slow()) {
    hold();
  } else {
    for (std::size_t scale = 0; scale < kScales.size() && !slow(); ++scale) test(scale);
    if (slow()) {
      for (std::size_t scale = 0; scale < kScales.size(); ++scale) left(scale) = 0;
    }
    for (std::size_t scale = 0; scale < kScales.size() && !slow(); ++scale) learn(scale);
  }
  const std::int64_t all = kScales.back().verify;
  const std::int64_t shown = slow() ? std::min(all, static_cast<std::int64_t>(memory_[kStepsSlow])) : all;
  memory_[kSpeed] = 1 / recent().median(std::min(recent().count(), shown));
  memory_[kBar] = 1 / bar(kScales.size() - 1);
}

}  // namespace

std::vector<Finding> ChangePointDetector::observe(const std::vector<double>& relative,
                                                  const std::vector<Memory*>& memories) const {
  std::vector<Finding> findings;
  findings.reserve(relative.size());
  for (std::size_t rank = 0; rank < relative.size(); ++rank) {
    Worker(*memories[rank]).take(relative[rank]);
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
