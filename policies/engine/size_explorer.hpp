// Which sizes a job may have next when each new size is a small experiment, and what its measurements say about that in
// words. Judged as of the job's newest report, so that it follows from the state. Pure.
//
// Rules. Of the sizes that batch and price cap leave (size_limits.hpp):
//   while nothing has been measured, those up to the one that its user prefers, by default the smallest; afterwards
//   those up to twice the largest measured one, and at least the next one; but only half as many again while
//     a job that began above its smallest size has been measured at no other: its user has said where to look;
//     where its kin were measured (similar_job_sizes.hpp), those up to twice the largest of theirs, too: it need not
//     find out anew what they found out;
//   none at or above a measured size into which the step from the next smaller measured one did not pay, by the scale
//     condition of scaling_evidence.hpp, the two compared as they were one right after the other, and none between the
//     two that would not by the fitted curve. What the job holds is no exception, unless giving it up would stall it
//     for longer than that brings;
//   where that step was the first one measured, none above half of its smaller size, until that is measured, too:
//     it is not known yet whether the workers in between pay. Unless the two stalls take longer than that could bring.
// A program that chooses its batch is judged at the batches that would teach most now (job_speed.hpp), measured or not:
// of its sizes those that pay beside the one before, and what it holds. What a size gave at the batch of an hour ago is
// no evidence against it; a job whose noise has grown since would stay small for as long as such evidence is trusted.
// So what its user calls worth a worker is a bound to every price. Evidence that has grown stale bounds nothing.
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
