// The autoscaling engine: tries sizes of one job, measures each, and keeps the largest whose last workers pay.
// It keeps no memory: what has been tried is in the job's records, so a restart changes no answer.
//
// Source: Or, Zhang, Freedman, "Resource Elasticity in Distributed Deep Learning", MLSys 2020. With N =
// scaling.spawn_size, K = scaling.every_steps, and the conditions of scaling_evidence.hpp, judged only after K
// steps at the present size:
//   1. one size measured: add N workers, or take N away at the maximum
//   2. judge each two neighbouring measured sizes, ascending
//   3. all pay and the largest measured is below the maximum: go to the largest + N
//   4. the first three do not all pay and the smallest measured is above the minimum: go to the smallest - N
//   5. else go to the size before the first step that does not pay; but if the size after it has fewer than
//      min(100, 5 K) steps (100 in the paper), go there first and gather evidence
//   6. never below the minimum
// "+ N" is the nearest allowed size at least N away, or the last one. The batch rule: the global batch never exceeds
// batch.global, so a size that would leave a worker without a sample is not tried.
//
// What the paper's critics name, and what is done here:
//   * means never forget: a record older than 30 minutes no longer counts as evidence for rule 5, so the size is
//     visited again. Bounded: only when its age is also a hundred times what a visit costs, so that renewing
//     evidence never takes more than a hundredth of a job's time.
//   * a transition is free: a known move must bring more seconds than it stalls; a trial (rules 1, 3, 4, 5)
//     must be able to bring, at best, more than the two stalls of going and coming back. Gains are counted over
//     the remaining work if it is declared, else over one hour.
//   * neighbours flap within noise: coming back up to a size needs 2 % more throughput than the condition alone.
// A job that was resized by failure to a size it may not have goes to the next allowed one.
#pragma once

#include "core/decide/policy.hpp"

namespace tidepool::policies {

class AutoscalingEngine final : public core::JobRule {
 public:
  static constexpr std::int64_t kEvidenceStepsMax = 100;
  static constexpr std::int64_t kEvidenceRounds = 5;

  // Alternatives' scores: by how much they lost (negative), in efficiency or in currency units.
  [[nodiscard]] core::Target target(const core::ClusterView& view, const core::Job& job,
                                    core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies
