// Elastic Tiresias (Wu et al., "Elastic Deep Learning in Multi-Tenant GPU Clusters", TPDS 2022, arXiv 1909.11985,
// section 5): Tiresias's two queues at the sizes users want, and two rules on top:
//   R1 compaction: while more than ten jobs wait, running jobs of the second queue hold their smallest size;
//   R2 expansion: slots left over go one by one to the job with the largest gain s(k + 1) - s(k), s = speed-up over one
//      worker at the declared batch; a waiting job counts with s(m) / m and takes its smallest size m at once. Ties go
//      to the first queue, then to the job served first. It ends when no gain is above 0.
// Departs from the paper in that: the rules as a third party has built them and calls them the paper's settings,
// because the paper's bound on how far efficiency may fall under R1 could not be verified. Jobs keep the marks of
// tiresias.hpp.
#pragma once

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

class ElasticTiresias final : public AllocationPolicy {
 public:
  static constexpr int kWaitingMax = 10;  // N of R1

  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies::cluster
