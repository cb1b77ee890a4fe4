#include "straggler/z_score_detector.hpp"

#include <algorithm>
#include <cmath>

#include "straggler/recent_times.hpp"

namespace tidepool::straggler {
namespace {

enum Place : std::size_t { kMark, kSteps, kTypical, kBar, kStepsSlow, kRing };
constexpr double kMarkOfRule = 2;
constexpr std::size_t kPlaces = kRing + static_cast<std::size_t>(ZScoreDetector::kSpreadSteps);
constexpr std::int64_t kStepsAbove = ZScoreDetector::kOwnSteps / 2 + 1;  // a median over the bar has so many behind it

bool is_own(const Memory& memory) {
  return memory.size() == kPlaces && memory[kMark] == kMarkOfRule;
}

// Takes in one relative time and returns the spread of this worker over steps.
double take(Memory& memory, double relative) {
  if (!is_own(memory)) {
    memory.assign(kPlaces, 0);
    memory[kMark] = kMarkOfRule;
  }
  RecentTimes recent(std::span<double>(memory).subspan(kRing), static_cast<std::int64_t>(memory[kSteps]));
  recent.push(relative);
  ++memory[kSteps];
  memory[kTypical] = recent.median(std::min(recent.count(), ZScoreDetector::kOwnSteps));
  return recent.spread();
}

}  // namespace

std::vector<Finding> ZScoreDetector::observe(const std::vector<double>& relative,
                                             const std::vector<Memory*>& memories) const {
  std::vector<double> over_steps;
  std::vector<double> over_ranks;
  for (std::size_t rank = 0; rank < relative.size(); ++rank) {
    over_steps.push_back(take(*memories[rank], relative[rank]));
    over_ranks.push_back(std::abs((*memories[rank])[kTypical] - 1));
  }
  double spread = std::max(kSpreadMin, median_of(std::move(over_steps)));
  if (relative.size() >= kRanksForSpread) spread = std::max(spread, median_of(std::move(over_ranks)));
  std::vector<Finding> findings;
  for (Memory* memory : memories) {
    (*memory)[kBar] = 1 + kScoreMax * kMadToDeviation * spread;
    const bool above = (*memory)[kTypical] > (*memory)[kBar];
    (*memory)[kStepsSlow] = above ? std::max((*memory)[kStepsSlow] + 1, static_cast<double>(kStepsAbove)) : 0;
    findings.push_back(recall(*memory));
  }
  return findings;
}

Finding ZScoreDetector::recall(const Memory& memory) const {
  if (!is_own(memory)) return {};
  const bool slow = memory[kStepsSlow] > 0 && memory[kSteps] >= static_cast<double>(kStepsForVerdict);
  return {.speed = 1 / memory[kTypical],
          .bar = 1 / memory[kBar],
          .slow = slow,
          .steps = slow ? static_cast<int>(std::min(memory[kStepsSlow], 1000.0)) : 0};
}

}  // namespace tidepool::straggler
