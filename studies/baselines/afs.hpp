// AFS-L (Hwang et al., "Elastic Resource Sharing for Distributed Deep Learning", NSDI 2021, section 4, algorithm 1):
// slots are given out one by one, each to the job that wins against all others in turn. Of two jobs that hold nothing
// yet the one with less work left wins. Else, with S the throughput over one worker, k what a job was given, and `a`
// the one that would end sooner with that, the later one b wins iff
//   (S_b(k_b + 1) - S_b(k_b)) / S_b(k_b + 1) > (S_a(k_a + 1) - S_a(k_a)) / S_a(k_a)
// that is if the slot shortens b by a larger share than it would speed a up by. A job without slots ends last.
// Departs from the paper in that: remaining time is known (AFS-L; AFS-P estimates it); a slot that would bring neither
// anything is left free.
#pragma once

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

class Afs final : public AllocationPolicy {
 public:
  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies::cluster
