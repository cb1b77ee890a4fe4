// What a job's measurements say: its measured sizes, and for each two neighbours whether the step from the smaller to
// the larger one pays. All numbers that the rules of autoscaling_engine.hpp weigh come from here.
//
//   efficiency  s = [ (R(k2) - R(k1)) / (k2 - k1) ] / [ R(k1) / k1 ]       pays iff s > S
//   utility     U(T(k2)) - U(T(k1)) > cost(k2) - cost(k1)                  when the job has a utility
//               T(k) = elapsed + W / R(k),  cost(k) = k g P W / R(k)
//
// R(k): samples per second at size k; S: scaling.efficiency_threshold; W: remaining samples
// (core/state/measured/job_work.hpp); g: slots a worker; P: price of a slot and second; elapsed: since submission,
// because that is how long the owner has waited. Or, Zhang, Freedman: "Resource Elasticity in Distributed Deep
// Learning", MLSys 2020, conditions 1 and 2. There the batch is the unit of work; here the sample is, so that sizes
// with different batches compare.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/decide/policy.hpp"
#include "policies/size/size_limits.hpp"

namespace tidepool::policies {

// One size with a full measurement (at least scaling.every_steps steps).
struct MeasuredSize {
  int size = 0;
  double rate = 0;         // samples per second, > 0
  std::int64_t steps = 0;  // steps on which the rate is based; 0 once the record is stale
  core::SizeChange entered = {};
};

// What neighbours are compared by.
enum class Comparison {
  kMeans,  // the overall mean of each, whenever it was measured
  // What they gave one right after the other when the job last changed between them (core::SizeChange): a shared
  // machine is fast at one time and slow at another, which says nothing about a size. Their means if it never did.
  kSideBySide,
};

// Whether going from `small` to `large`, neighbours among the measured sizes, pays.
struct PairVerdict {
  int small = 0;
  int large = 0;
  double efficiency = 0;  // s above
  double asked = 0;       // what s had to exceed: S, plus the noise margin when judged from below
  double gain = 0;        // difference of utility, in currency units; 0 without a utility
  double cost = 0;        // difference of cost, in currency units; 0 without a utility
  bool passed = false;
};

class ScalingEvidence {
 public:
  // While work is not declared, gains are counted over the work that the next hour would do.
  static constexpr double kHorizonSeconds = 3'600;
  // A record older than this, and older than a hundred visits to its size would cost, is stale.
  static constexpr Duration kTrustFor = Duration::seconds(1'800);
  static constexpr double kVisitShareMax = 0.01;
  // Differences in throughput below this share are noise: coming back up to a size needs that much more.
  static constexpr double kNoise = 0.02;

  ScalingEvidence(const core::ClusterView& view, const core::Job& job, const AllowedSizes& ladder,
                  Comparison comparison = Comparison::kMeans);

  // Ascending. The present size is among them once it has been measured for long enough.
  [[nodiscard]] const std::vector<MeasuredSize>& sizes() const { return sizes_; }
  [[nodiscard]] const std::vector<PairVerdict>& pairs() const { return pairs_; }
  [[nodiscard]] const MeasuredSize* find(int size) const;
  // The pair whose larger size is `size`, or null.
  [[nodiscard]] const PairVerdict* into(int size) const;

  [[nodiscard]] bool by_utility() const { return by_utility_; }
  // Reasons with what the step of this pair brings and the required value, by utility or by efficiency.
  [[nodiscard]] core::Reason settled(const PairVerdict& pair) const;
  [[nodiscard]] core::Reason grows(const core::reason::Change& change, const PairVerdict& pair) const;
  [[nodiscard]] core::Reason shrinks(const core::reason::Change& change, const PairVerdict& pair) const;
  // To a smaller size that is not measured yet.
  [[nodiscard]] core::Reason looks_below(const core::reason::Change& change, const PairVerdict& pair) const;

  // How long a change between the two sizes stalls the job, in seconds; measured, or a stated estimate.
  [[nodiscard]] double stall_seconds(int from, int to) const;
  // What the change would bring over the remaining work, in seconds of the present gang, before its stall is
  // taken off: time saved by growing, slot time saved by shrinking; with a utility the net gain in currency
  // divided by what a second of the present gang is worth. Requires: both sizes are measured.
  [[nodiscard]] double gain_seconds(int from, int to) const;
  // The same with the best possible result at `to`: up perfectly linear, down not slower at all.
  [[nodiscard]] double best_gain_seconds(int from, int to) const;

 private:
  [[nodiscard]] bool stale(int size, const core::SizeRecord& record) const;
  [[nodiscard]] PairVerdict judge(const MeasuredSize& small, const MeasuredSize& large, int present) const;
  [[nodiscard]] double gain_seconds(int from, int to, double to_rate) const;
  [[nodiscard]] core::reason::Efficiency efficiency_of(const PairVerdict& pair) const;
  [[nodiscard]] static core::reason::Utility utility_of(const PairVerdict& pair) {
    return {.utility_gain = pair.gain, .cost_gain = pair.cost};
  }

  const core::Job& job_;
  Instant now_;
  bool by_utility_;
  double threshold_;
  double worker_second_price_ = 0;  // of one worker, in currency units; 0 without a utility
  double remaining_samples_ = 0;
  std::vector<MeasuredSize> sizes_;
  std::vector<PairVerdict> pairs_;
};

}  // namespace tidepool::policies
