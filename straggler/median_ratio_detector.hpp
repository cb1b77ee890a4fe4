// Tells slow workers by their share of the others' speed: samples in, verdicts out, no memory.
// Safe rule: only compute time before the allreduce may be fed in; step time rises for all ranks together.
//
// The rule of Or, Zhang and Freedman, "Resource Elasticity in Distributed Deep Learning" (MLSys 2020):
//   f_i = throughput_i / median_j(throughput_j) = median_j(compute_j) / compute_i    (equal batches)
//   score_i <- 0.1 f_i + 0.9 score_i, starting at the first f_i;  straggler iff score_i < 0.8
// with three changes, each for a case that the paper leaves open:
//   * the median is taken over the *other* ranks. With two ranks the plain median is the mean of both, and a
//     worker 1.5 times slower would sit at exactly 0.8 for ever; against the other rank it sits at 0.67.
//   * f is capped at 2: one hiccup of another rank must not buy this one a hundred steps of credit. A cap at 1 would
//     do more, but then noise that is the same on all ranks pulls every score below 1 (the mean of min(1, X/Y) is below
//     1 for equal X and Y), and workers of a busy machine would take turns at being named.
//   * a verdict needs 20 steps: a newcomer's first step may be ten times slower (cold caches) and is then forgiven.
// Rank 0 is judged like every other rank. See README.md for the mathematics and a worked example.
#pragma once

#include <cstdint>
#include <vector>

namespace tidepool::straggler {

class MedianRatioDetector {
 public:
  static constexpr double kWeightOfNewest = 0.1;        // alpha of the moving average
  static constexpr double kFractionMax = 2;             // most that one step can count for a rank
  static constexpr double kThreshold = 0.8;             // a score below it is a straggler's
  static constexpr std::int64_t kStepsForVerdict = 20;  // steps a score must rest on

  // The score after one more step: `previous` before it (`steps_seen` = 0 for a new worker: it has none), this
  // rank's compute time and those of all ranks of the step, its own among them, in microseconds.
  // A step with fewer than two ranks, or with a time that is not positive, says nothing about a known worker.
  [[nodiscard]] double score(double previous, std::int64_t steps_seen, std::int64_t own_us,
                             const std::vector<std::int64_t>& all_us) const;
  [[nodiscard]] bool is_straggler(double score, std::int64_t steps_seen) const;
  [[nodiscard]] double threshold() const { return kThreshold; }
};

}  // namespace tidepool::straggler
