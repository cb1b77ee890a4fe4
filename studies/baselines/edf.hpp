// Earliest deadline first, as ElasticFlow's evaluation runs it (Gu et al., "ElasticFlow", ASPLOS 2023, section 6.1):
// jobs in order of deadline, each taking as many slots as it may while slots last, rounded down to a size at which it
// can run; those without a deadline come last, then the older job. No job is declined and none is spared: it neither
// asks whether a deadline can still be met nor what the last slots of a job are worth.
#pragma once

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

class EarliestDeadline final : public AllocationPolicy {
 public:
  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies::cluster
