// ElasticFlow (Gu et al., "ElasticFlow: An Elastic Serverless Training Platform for Distributed Deep Learning", ASPLOS
// 2023, section 4): deadlines are promises, so a job that would break one is declined on arrival.
//   Minimum satisfactory share (4.1): jobs in order of deadline; each takes the smallest level q (a power of two) with
//   which it ends in time, filled backwards from its deadline into what earlier deadlines have left free, and the level
//   below q before the point from which q is enough.
//   Admission (4.1): jobs that arrive are accepted together if then all jobs end in time, else declined together.
//   Slots left over now (4.2): again and again to the job whose next level now saves most slot time per slot, jobs
//   without any slots first.
// Plans are made in slots of kSlot; the policy asks to be asked again when a plan changes a size. A job that was
// accepted and cannot end in time any more runs as fast as it can, and no job is accepted meanwhile.
// Departs from the paper in that: a job without a deadline is planned as if its deadline were years away, one of
// unknown length counts as having one step left; where workers lie is the place stage's business (no buddy allocation).
// A job's mark: level 1 = accepted.
#pragma once

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

class ElasticFlow final : public AllocationPolicy {
 public:
  static constexpr std::int64_t kSlot = 60;  // seconds

  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies::cluster
