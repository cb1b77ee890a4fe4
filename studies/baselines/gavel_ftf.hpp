// Finish-time fairness as shares of time (Narayanan et al., "Gavel", OSDI 2020, section 4.1, after Mahajan et al.,
// "Themis", NSDI 2020): minimize over shares x the largest
//   rho_m = (time in the system + steps left / sum_j speed_mj x_mj) / (time alone so far + steps left / speed alone),
// where alone = on 1/n of each type's slots, and "time alone so far" is what the steps done since the last shares would
// have taken there, summed up. The least rho is found by bisection, each step a linear program; at its end the shares
// in the middle of the optimal ones are taken. A job of unknown length takes no part and gets what is left over.
// Departs from Gavel in that: its simulator hands the problem to a conic solver; no packing.
// A ledger's `own`: time alone so far, speed alone and steps left at the last shares.
#pragma once

#include "studies/baselines/gavel_rounds.hpp"

namespace tidepool::policies::cluster {

class GavelFtf final : public GavelPolicy {
 private:
  [[nodiscard]] TypeTable plan(const View& view, const TypeTable& speeds, std::vector<Ledger>& ledgers) const override;
};

}  // namespace tidepool::policies::cluster
