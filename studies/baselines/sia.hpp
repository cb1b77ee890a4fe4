// Sia (Jayaram Subramanya et al., "Sia: Heterogeneity-aware, goodput-optimized ML-cluster scheduling", SOSP 2023,
// section 3.3): a binary program over jobs and configurations.
//   minimize  sum_ij x_ij (r_i G_ij)^p + lambda (J - sum_ij x_ij),   at most one configuration a job, no more slots of
//   a type than there are
// Configurations, for each type of slot: powers of two within a node, whole nodes beyond. G_ij = the job's smallest
// size x goodput over the row's least, p = -1/2, lambda = 1.1: starting a job that runs on one slot is worth 0.1. r_i =
// (age - resizes x S) / (age + S), not below 0, for each configuration other than the present one, S = how long a
// change stands still; 1 for a job that holds nothing or is younger than S. A job starts on one worker and at most
// doubles the largest size it was measured at. Placement: place/regroup.hpp. Jobs choose their batch for what they hold
// as Pollux's do (section 3.5); what a type not visited yet would bring is the speed model's business (section 3.2).
// Departs from Sia in that: values are not rounded to two decimals before they are solved; all jobs are adaptive, but
// one that may have none of the configurations has its smallest size as the only one, and one that cannot change its
// size the size it holds.
#pragma once

#include "policies/cluster/allocation_policy.hpp"
#include "studies/baselines/choice_program.hpp"

namespace tidepool::policies::cluster {

class Sia final : public AllocationPolicy {
 public:
  static constexpr double kPower = -0.5;
  static constexpr double kLambda = 1.1;

  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;

  // The program of a view; an option's kind is its type of slot, the only one where all slots are alike.
  [[nodiscard]] static ChoiceProgram program_of(const View& view);
};

}  // namespace tidepool::policies::cluster
