// Names workers whose time has shifted by a tenth or more: a change is suspected, then verified on the steps that
// follow, and only then named.
// Safe rule: suspicion and verification use different steps, so that a burst of noise has to come twice; and the bar
// rises with the noise that this worker has shown at the same length of window, so that a loud machine is not accused.
//
// After FALCON (arXiv 2410.12588, section 4): change points found first are verified by comparing the means before
// and after, and count from a difference of 10 %. Three departures:
//   * medians instead of means: one stalled step in ten says nothing about a worker's pace;
//   * instead of Bayesian run lengths (Adams and MacKay 2007), whose cost grows with the run, windows of three lengths,
//     each for a size of shift that it can carry (kScales). A large shift is named in 9 steps, 10 % in about 45;
//   * what counts as noise is measured per worker and window: D is the mean distance of its window medians from the
//     level, and at least what the spread of the newest 32 steps would give if they were independent. A window adds at
//     most 3 D to that mean, so that a shift is named long before it could pass for noise.
//
// With `level` the worker's usual relative time, and M(n) the median of its newest n:
//   bar = level (1 + max(shift, 6 D))        per scale
//   suspected when M(suspect) > bar;  `verify` steps later named when M(verify) > bar, otherwise forgotten
//   named for as long as M(30) > level (1 + shift / 2) of the scale that named it
#pragma once

#include <array>

#include "straggler/detector.hpp"

namespace tidepool::straggler {

class ChangePointDetector final : public Detector {
 public:
  struct Scale {
    std::int64_t suspect = 0;  // steps of the window that raises suspicion
    std::int64_t verify = 0;   // steps after it that must confirm
    double shift = 0;          // smallest shift, as a share of the level
  };
  // The last bar is a little below a tenth: the median of a shift of exactly a tenth lies below it half of the time.
  static constexpr std::array<Scale, 3> kScales{{{4, 5, 0.35}, {9, 13, 0.18}, {21, 31, 0.085}}};
  static constexpr double kDeviations = 6;              // of window medians, that a shift must exceed
  static constexpr double kLevelMin = 0.97;             // what a worker's usual time may be, over the others': one
  static constexpr double kLevelMax = 1.05;             // that has long waited for a straggler is not slow without it
  static constexpr std::int64_t kStepsForVerdict = 20;  // steps a verdict must rest on

  [[nodiscard]] std::string_view name() const override { return "change_point"; }

 private:
  [[nodiscard]] std::vector<Finding> observe(const std::vector<double>& relative,
                                             const std::vector<Memory*>& memories) const override;
  [[nodiscard]] Finding recall(const Memory& memory) const override;
};

}  // namespace tidepool::straggler
