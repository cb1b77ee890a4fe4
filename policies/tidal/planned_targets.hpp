// The target of each job in a plan of tidal that is in force: its size, its place in line and its reason.
//
// Rule: this changes nothing and follows only from what was settled, so a job's target is the same whichever other
// targets are computed in the same plan.
#pragma once

#include "core/decide/policy.hpp"
#include "policies/cluster/cluster_view.hpp"
#include "policies/tidal/gang_cuts.hpp"
#include "policies/tidal/promise_book.hpp"
#include "policies/tidal/purchases.hpp"
#include "policies/tidal/reasons.hpp"

namespace tidepool::policies::tidal {

class PlannedTargets {
 public:
  struct Plan {
    Purchases bought;
    const PromiseBook& promises;
    const GangCuts& cuts;
    const Terms& terms;
    int capacity = 0;    // slots, claims included
    JobId next_in_line;  // whose bid was the first to find no room; none = all bids got everything
  };
  explicit PlannedTargets(const Plan& plan) : plan_(plan) {}

  // For a job that takes part and that an empty cluster would hold.
  [[nodiscard]] core::Target of(const core::ClusterView& view, const core::Job& job) const;
  // Its score and the sizes that lost; needed only for a job with changes.
  void add_words(const core::Job& job, core::Target& target) const;

 private:
  [[nodiscard]] core::Target of_bidder(const core::ClusterView& view, const core::Job& job) const;
  [[nodiscard]] core::Target of_shut(const core::Job& job) const;
  // Why a job that bids gets this number of slots.
  [[nodiscard]] cluster::GrantReason why(JobId job, int given) const;
  [[nodiscard]] cluster::GrantReason why_none(JobId job, int bought) const;

  Plan plan_;
};

}  // namespace tidepool::policies::tidal
