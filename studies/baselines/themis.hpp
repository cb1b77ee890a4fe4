// Themis (Mahajan et al., "Themis: Fair and Efficient GPU Cluster Scheduling", NSDI 2020, section 4): slots are leased;
// when leases end, what is free is auctioned among the fifth of the jobs that fare worst (its fairness knob f = 0.8).
// A job's finish-time fairness with k slots from now on is
//   rho(k) = (time since submission + steps left x step(k)) / (all its steps x step(slots / jobs))
// and its bid for k is how much larger rho would be if it got nothing for this lease. The auction maximizes the product
// of bids, by dynamic programming over the free slots; what it leaves over goes to the others, worst rho first.
// Departs from Themis in that: one job is an app, so there is no second level and no hidden payment for truthfulness
// (rho is computed, not reported); left-overs go by rho instead of at random; no placement sensitivity in bids. A job
// of unknown length counts as being half done. A job's mark: level = what it leased, since = when.
#pragma once

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

class Themis final : public AllocationPolicy {
 public:
  static constexpr double kFairness = 0.8;                      // f
  static constexpr Duration kLease = Duration::seconds(1'200);  // 20 minutes

  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies::cluster
