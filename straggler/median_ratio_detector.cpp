#include "straggler/median_ratio_detector.hpp"

#include <algorithm>

namespace tidepool::straggler {
namespace {

// Places in a memory.
enum Place : std::size_t { kMark, kSteps, kScore, kStepsSlow, kPlaces };
constexpr double kMarkOfRule = 1;

bool is_own(const Memory& memory) {
  return memory.size() == kPlaces && memory[kMark] == kMarkOfRule;
}

bool is_slow(const Memory& memory) {
  return memory[kSteps] >= static_cast<double>(MedianRatioDetector::kStepsForVerdict) &&
         memory[kScore] < MedianRatioDetector::kThreshold;
}

}  // namespace

std::vector<Finding> MedianRatioDetector::observe(const std::vector<double>& relative,
                                                  const std::vector<Memory*>& memories) const {
  std::vector<Finding> findings;
  findings.reserve(relative.size());
  for (std::size_t rank = 0; rank < relative.size(); ++rank) {
    Memory& memory = *memories[rank];
    const double fraction = std::min(kFractionMax, 1 / relative[rank]);
    if (!is_own(memory)) {
      memory.assign(kPlaces, 0);
      memory[kMark] = kMarkOfRule;
      memory[kScore] = fraction;
    } else {
      memory[kScore] = kWeightOfNewest * fraction + (1 - kWeightOfNewest) * memory[kScore];
    }
    ++memory[kSteps];
    // The share below the bar began about when single steps did.
    memory[kStepsSlow] = fraction < kThreshold || is_slow(memory) ? memory[kStepsSlow] + 1 : 0;
    findings.push_back(recall(memory));
  }
  return findings;
}

Finding MedianRatioDetector::recall(const Memory& memory) const {
  if (!is_own(memory)) return {.bar = kThreshold};
  const bool slow = is_slow(memory);
  return {.speed = memory[kScore],
          .bar = kThreshold,
          .slow = slow,
          .steps = slow ? static_cast<int>(std::min(memory[kStepsSlow], 1000.0)) : 0};
}

}  // namespace tidepool::straggler
