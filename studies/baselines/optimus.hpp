// Optimus (Peng et al., EuroSys 2018, section 4) for allreduce jobs, as Pollux's evaluation runs it with an oracle
// (Qiao et al., OSDI 2021, section 5.1, "Optimus+Oracle"): every job gets one worker in order of submission while slots
// last; then one worker at a time goes to the job whose remaining time falls most,
//   gain(k) = (step_seconds(k) - step_seconds(k + 1)) x steps left,
// ties to the job submitted first, until no slot is left or no gain is above 0. The batch is the declared one.
// Departs from Optimus in that: no parameter servers, remaining work and step times are known instead of fitted.
// A job of unknown length counts as having one step left.
#pragma once

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

class Optimus final : public AllocationPolicy {
 public:
  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies::cluster
