// Policies of shares that care for the whole alone (Narayanan et al., "Gavel", OSDI 2020, section 4.2):
//   gavel_max_sum   maximize the sum over jobs of speed: sum_mj speed_mj x_mj
//   gavel_cost      the same with each type's speed divided by its price, so dear slots must be worth it
//   gavel_makespan  the last job to end is to end as early as can be: maximize 1 / T with sum_j speed_mj x_mj >=
//                   steps left / T for every job
// Of several optima makespan takes the middle one, the others a corner. Departs from Gavel in that: cost is its
// simulator's sum of speeds per price, not the paper's quotient of sums, and without deadlines; makespan is solved as
// one program instead of by bisection. Jobs of unknown length count in makespan as having one step left; a type without
// a price costs 1.
#pragma once

#include "studies/baselines/gavel_rounds.hpp"

namespace tidepool::policies::cluster {

class GavelMaxSum final : public GavelPolicy {
 private:
  [[nodiscard]] TypeTable plan(const View& view, const TypeTable& speeds, std::vector<Ledger>& ledgers) const override;
};

class GavelCost final : public GavelPolicy {
 private:
  [[nodiscard]] TypeTable plan(const View& view, const TypeTable& speeds, std::vector<Ledger>& ledgers) const override;
};

class GavelMakespan final : public GavelPolicy {
 private:
  [[nodiscard]] TypeTable plan(const View& view, const TypeTable& speeds, std::vector<Ledger>& ledgers) const override;
};

}  // namespace tidepool::policies::cluster
