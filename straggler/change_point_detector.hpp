// Names workers whose time has shifted by a twelfth or more: a change is suspected, then verified on the steps that
// follow, and only then named.
// Safe rule: an alarm needs evidence in proportion to the noise that the crew itself has shown over windows of the same
// length; slowness that is being judged, or has been named, never counts as noise.
//
// After FALCON (arXiv 2410.12588, section 4): change points found first are verified on what follows, and count from
// a difference of about 10 %. Instead of Bayesian run lengths (Adams and MacKay 2007), whose cost grows with the run,
// windows of growing length (kScales), each for a size of shift that it can carry. With r a step's multiple of the
// others' time (relative_times.hpp):
//   x = 2 (r - 1) / (r + 1)              the difference over the mean of both: log r to 1 % up to r = 1.4, odd, below 2
//   M(n) = mean of the newest n of x - level, each clipped to max(1.5 shift, 3.7 MAD)      `level`: the usual x
//   bar(n) = max(shift, 5.5 S(n) sqrt(1 + (95 / (50 + steps learned))^3))
//   suspected when M(window) > bar(window); `verify` steps later named when M(verify) > 3/4 bar(window)
//   named for as long as M(max(30, window)) > shift / 2
// S(n)^2, the variance of M(n): measured on the overlapping windows of the worker and of the whole crew, whichever is
// more, so that noise which lasts for many steps counts as much as it weighs; it starts at 1.5 times what independent
// steps would give, worth eight windows. S(n) falls no faster than 1 / sqrt(n) from one length to the next. A window
// counts at most 3 S (2 S on the slow side), and only 128 to 256 steps after it ended, if none was named meanwhile.
#pragma once

#include <array>

#include "straggler/detector.hpp"

namespace tidepool::straggler {

class ChangePointDetector final : public Detector {
 public:
  struct Scale {
    std::int64_t window = 0;  // steps that raise suspicion
    std::int64_t verify = 0;  // steps after the window that must confirm
    double shift = 0;         // smallest shift of x
  };
  static constexpr std::array<Scale, 8> kScales{{{5, 4, 0.24},
                                                 {8, 4, 0.24},
                                                 {12, 5, 0.13},
                                                 {18, 7, 0.13},
                                                 {27, 10, 0.08},
                                                 {40, 14, 0.08},
                                                 {60, 21, 0.08},
                                                 {90, 31, 0.08}}};
  static constexpr double kDeviations = 5.5;            // S, that a shift must exceed
  static constexpr double kLevelMin = -0.015;           // what a worker's usual x may be: one that has long waited for
  static constexpr double kLevelMax = 0.05;             // a straggler is not slow without it
  static constexpr std::int64_t kStepsForVerdict = 20;  // steps on which a verdict must be based

  [[nodiscard]] std::string_view name() const override { return "change_point"; }

 private:
  [[nodiscard]] std::vector<Finding> observe(const std::vector<double>& relative,
                                             const std::vector<Memory*>& memories) const override;
  [[nodiscard]] Finding recall(const Memory& memory) const override;
};

}  // namespace tidepool::straggler
