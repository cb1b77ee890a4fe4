// What each job is told by a plan of tidal that stands: its size, its place in line and why.
//
// Rule: it changes nothing and follows from what has been settled alone, so a job is told the same whichever others are
// told anew beside it.
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
    JobId next_in_line;  // whose bid found no room first; none = all bids got all
  };
  explicit PlannedTargets(const Plan& plan) : plan_(plan) {}

  // Of a job that takes part and that an empty cluster would hold.
  [[nodiscard]] core::Target of(const core::ClusterView& view, const core::Job& job) const;
  // Its score and the sizes that lost, which are needed only for a job with news.
  void add_words(const core::Job& job, core::Target& target) const;

 private:
  [[nodiscard]] core::Target of_bidder(const core::ClusterView& view, const core::Job& job) const;
  [[nodiscard]] core::Target of_shut(const core::Job& job) const;
  // Why a job that bids is given so many slots.
  [[nodiscard]] cluster::GrantReason why(JobId job, int given) const;
  [[nodiscard]] cluster::GrantReason why_none(JobId job, int bought) const;

  Plan plan_;
};

}  // namespace tidepool::policies::tidal
