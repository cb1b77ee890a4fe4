// The elastic optimizer of FfDL (Saxena et al., "Effective Elastic Scaling of Deep Learning Workloads", MASCOTS 2020,
// section 4): the sizes that maximize the sum of speed-ups over one worker at the declared batch, found by dynamic
// programming; every job runs on its smallest size at least. When not all can, the latest wait.
// Departs from the paper in that: sizes are chosen again whenever the policy is asked, not only at fixed intervals.
#pragma once

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

class Ffdl final : public AllocationPolicy {
 public:
  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies::cluster
