// Names workers whose typical time stands out from the spread of the job's times, over ranks and over steps.
// Safe rule: the spread is never taken to be below 2 %, so that ranks which are equal to the microsecond do not make
// a straggler out of one that is not.
//
// The modified z-score of Iglewicz and Hoaglin ("How to Detect and Handle Outliers", 1993), with medians instead of
// means, so that the straggler itself does not hide in a spread that it makes:
//   m_i = median of the newest 9 relative times of rank i              (its typical time; 1 = as the others)
//   T   = median over ranks of MAD(the newest 32 relative times of a rank)          (spread over steps)
//   B   = median over ranks of |m_j - 1|, from four ranks on                        (spread over ranks)
//   z_i = (m_i - 1) / (1.4826 max(T, B, 0.02));   straggler while z_i > 3.5
// With fewer ranks the straggler itself moves the others' median, and would hide in B.
// Single steps are the measure of the spread, so the bar lies at 10 % above the others at best, and higher with noise.
#pragma once

#include "straggler/detector.hpp"

namespace tidepool::straggler {

class ZScoreDetector final : public Detector {
 public:
  static constexpr double kScoreMax = 3.5;           // above it a worker is a straggler
  static constexpr double kMadToDeviation = 1.4826;  // of a normal distribution
  static constexpr double kSpreadMin = 0.02;         // as a share of the others' time
  static constexpr std::int64_t kOwnSteps = 9;       // window of a worker's typical time
  static constexpr std::int64_t kSpreadSteps = 32;   // window of the spread over steps
  static constexpr std::size_t kRanksForSpread = 4;
  static constexpr std::int64_t kStepsForVerdict = 20;  // steps a score must rest on

  [[nodiscard]] std::string_view name() const override { return "z_score"; }

 private:
  [[nodiscard]] std::vector<Finding> observe(const std::vector<double>& relative,
                                             const std::vector<Memory*>& memories) const override;
  [[nodiscard]] Finding recall(const Memory& memory) const override;
};

}  // namespace tidepool::straggler
