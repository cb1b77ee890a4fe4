// Tiresias's discretized two-dimensional LAS as its own simulator and ElasticFlow's evaluation run it (Gu et al.,
// "Tiresias", NSDI 2019, section 4; Gu et al., "ElasticFlow", ASPLOS 2023, section 6.1): every job at the size its user
// wants; three queues; a job goes to the end of the next queue when it has been given 3,250 and 7,200 GPU-seconds (time
// run x size) and never returns; within a queue those that run come before those that wait, else they keep their order;
// a job that does not fit is passed over. A queue changes only when it is looked at, so the policy asks to be asked
// again when the next job is due to fall, as its simulator reckons that: (threshold - seconds run) / size.
// Departs from Tiresias in that: no Gittins index, no promotion of starved jobs, no placement by tensor skew. See
// tiresias.hpp for how Pollux's evaluation runs the same idea.
// A job's mark: level = its queue, numbers[0] = its place in it, a number that is larger for those behind.
#pragma once

#include <array>

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

class TiresiasDlas final : public AllocationPolicy {
 public:
  static constexpr std::array<double, 2> kThresholds{3'250, 7'200};  // GPU-seconds

  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies::cluster
