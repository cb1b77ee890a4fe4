// Tidepool's own policy for the whole cluster: one price per slot, at which every job, alone, takes the size that is
// worth most to it. A job's worth of size k over the next `horizon`:
//   V(k) = w * (s(k)^p) * (H - S [k is not what it holds]) / H
// s = goodput(k) / goodput(1), the speed-up in useful steps; S = how long the job stands still when it changes; H =
// horizon. Without declared work w = (attained service + served_scale)^-1/2 and p = 1/2: short jobs are served before
// long ones, and the second slot is worth less than the first. With declared work w = (time left on one slot +
// left_scale)^-1/2 and p = 0.7. A job's own weight multiplies w.
// The sum of V under the number of slots is maximized over the concave hulls of the jobs' curves, steepest piece first:
// that is the Lagrangian bound met exactly but for the last piece, and what is left over then goes to the steepest
// step that still fits. The slope of the last piece bought is the price of a slot.
// A job starts on at most one node and then grows at most `growth` times beyond what its kind was measured at, because
// its curve is a guess there. Sizes: all within a node, whole nodes beyond.
#pragma once

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

class Tidal final : public AllocationPolicy {
 public:
  struct Settings {
    double horizon_s = 600;
    double served_scale = 3'600;  // slot-seconds
    double left_scale = 600;      // seconds
    double power = 0.5;           // p without declared work
    double power_declared = 0.7;  // and with
    int growth = 4;
  };
  Tidal() = default;
  explicit Tidal(const Settings& settings) : settings_(settings) {}

  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;

 private:
  Settings settings_;
};

}  // namespace tidepool::policies::cluster
