// Which sizes a job may try next, because each new size is a small experiment, and what its measurements say about that
// in words. Judged at the job's newest report, so that it follows from the state. Pure.
//
// Rules. Of the sizes that batch and price cap allow (size_limits.hpp):
// - before any measurement those up to the size that its user prefers, by default the smallest; afterwards those up to
//   twice the largest measured one, and at least the next one; but only half as many again while a job that began above
//   its smallest size has been measured at no other, because its user has said where to look; if similar jobs were
//   measured (similar_job_sizes.hpp), also those up to twice the largest of theirs, because their results need not be
//   found again;
// - none at or above a measured size whose step from the next smaller measured one did not pay, by the scale condition
//   of scaling_evidence.hpp, the two compared directly after one another, and none between the two that would not pay
//   by the fitted curve. The job's present size is no exception, unless releasing it would stall the job for longer
//   than that brings;
// - if that step was the first one measured, none above half of its smaller size, until that half is measured, too,
//   because it is not known yet whether the workers in between pay; unless the two stalls take longer than that could
//   bring.
// A program that chooses its batch is judged at the best batches now (job_speed.hpp), measured or not: the allowed
// sizes are those that pay compared with the previous one, and its present size. The result of a size at the batch of
// an hour ago is no evidence against it; a job whose noise has grown since would stay small for as long as such
// evidence is trusted. The user's efficiency threshold thus bounds the size at every price. Stale evidence bounds
// nothing.
#pragma once

#include <optional>
#include <vector>

#include "core/state/plan.hpp"
#include "policies/cluster/allocation_policy.hpp"
#include "policies/engine/job_speed.hpp"
#include "policies/size/scaling_evidence.hpp"
#include "policies/size/size_limits.hpp"

namespace tidepool::policies::cluster {

class SizeExplorer {
 public:
  // `job` must outlive this object. Requires: the ladder has sizes.
  SizeExplorer(const core::ClusterState& state, const core::Job& job, AllowedSizes ladder);

  // In workers, ascending, never empty.
  [[nodiscard]] std::vector<int> sizes(const JobSpeed& speed) const;

  // Why the job has the size of its target, if the reason is its measurements and not the price; none otherwise.
  // `priced`: some job is outbid, so that a slot costs something.
  [[nodiscard]] std::optional<core::Reason> evidence_for(const core::Target& target, bool priced) const;

 private:
  [[nodiscard]] int largest(int known) const;
  [[nodiscard]] std::vector<int> sizes_at_best_batch(const JobSpeed& speed) const;
  [[nodiscard]] int lower_to_look_at() const;
  [[nodiscard]] bool keeps_what_it_holds() const;
  [[nodiscard]] std::optional<core::Reason> ground_to_hold() const;
  [[nodiscard]] std::optional<core::Reason> ground_to_grow(int to, bool priced) const;
  [[nodiscard]] std::optional<core::Reason> ground_to_shrink(int to) const;

  const core::Job* job_;
  AllowedSizes ladder_;
  ScalingEvidence evidence_;
  std::optional<PairVerdict> failure_;  // the first measured step that does not pay
  int tried_ = 0;                       // the largest measured size; 0 = none
  int look_below_ = 0;                  // the size to measure before the one under the failure is trusted; 0 = none
};

// Replaces a reason by price, where there is no price, by what the job's measurements say. Sizes and scores do not
// change.
void add_measurements_to_answer(const core::ClusterState& state, const core::Job& job, RestsOn rests_on,
                                core::Target& target);

}  // namespace tidepool::policies::cluster
