// The plain queues against which every other policy is measured. All keep jobs at the size that their users want and
// differ in the order of jobs; each may take a job's slots at any round.
#pragma once

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

// First come, first served, strictly: a job that does not fit keeps all later ones waiting. Preempts no job.
class StrictFifo final : public AllocationPolicy {
 public:
  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;
};

// The same, except that later jobs that fit pass a job that does not. Preempts no job, and keeps no room free for a
// wide job: it may wait for as long as narrow jobs arrive.
class FifoBackfill final : public AllocationPolicy {
 public:
  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;
};

// Shortest remaining time first (Schrage, Operations Research 16(3), 1968): steps left x step time at the wanted size.
// Departs from it in that: many slots, gangs, and remaining time is that at one size. Jobs of unknown length come last.
class ShortestRemaining final : public AllocationPolicy {
 public:
  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;
};

// Least attained service first (slots x time held), without levels: jobs of equal service take turns each round, which
// is why Tiresias puts queues in between (Gu et al., NSDI 2019, section 4.1).
class LeastAttained final : public AllocationPolicy {
 public:
  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies::cluster
