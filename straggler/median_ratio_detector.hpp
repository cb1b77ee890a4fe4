// The paper's rule: a moving average of each worker's share of the others' speed.
// Safe rule: names no slowness of a quarter or less; it is the baseline with which the other detectors are compared.
//
// Or, Zhang and Freedman, "Resource Elasticity in Distributed Deep Learning" (MLSys 2020):
//   f_i = throughput_i / median_j(throughput_j) = median_j(compute_j) / compute_i    (equal batches)
//   score_i <- 0.1 f_i + 0.9 score_i, starting at the first f_i;  straggler iff score_i < 0.8
// with three changes, each for a case that the paper leaves open:
//   * the median is taken over the *other* ranks (relative_times.hpp).
//   * f is capped at 2: one hiccup of another rank must not buy this one a hundred steps of credit. A cap at 1 would
//     do more, but then noise that is the same on all ranks pulls every score below 1 (the mean of min(1, X/Y) is below
//     1 for equal X and Y), and workers of a busy machine would take turns at being named.
//   * a verdict needs 20 steps: a joining worker's first step may be ten times slower (cold caches) and is then
//   forgiven.
#pragma once

#include "straggler/detector.hpp"

namespace tidepool::straggler {

class MedianRatioDetector final : public Detector {
 public:
  static constexpr double kWeightOfNewest = 0.1;        // alpha of the moving average
  static constexpr double kFractionMax = 2;             // most that one step can count for a rank
  static constexpr double kThreshold = 0.8;             // a score below it is a straggler's
  static constexpr std::int64_t kStepsForVerdict = 20;  // steps a score must rest on

  [[nodiscard]] std::string_view name() const override { return "median_ratio"; }

 private:
  [[nodiscard]] std::vector<Finding> observe(const std::vector<double>& relative,
                                             const std::vector<Memory*>& memories) const override;
  [[nodiscard]] Finding recall(const Memory& memory) const override;
};

}  // namespace tidepool::straggler
