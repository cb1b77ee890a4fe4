// Least attained service as shares of time: the job worst off is to be as well off as can be (Narayanan et al.,
// "Gavel", OSDI 2020, section 4.1),
//   maximize over shares x:  min over jobs m of  size_m / weight_m x (sum_j speed_mj x_mj) / (speed of m at the
//   cluster's mix of types).
// gavel_las takes all types for equally fast, gavel_las_perf knows how fast each job is on each. Among the optimal
// shares those are taken at which the published solver's method ends (studies/models/embedded_program.hpp).
// Departs from Gavel in that: no jobs share a slot (no packing), no hierarchies, no water filling beyond the least.
#pragma once

#include "studies/baselines/gavel_rounds.hpp"

namespace tidepool::policies::cluster {

class GavelLasPerf : public GavelPolicy {
 protected:
  [[nodiscard]] TypeTable plan(const View& view, const TypeTable& speeds, std::vector<Ledger>& ledgers) const override;
};

class GavelLas final : public GavelLasPerf {
 private:
  [[nodiscard]] TypeTable plan(const View& view, const TypeTable& speeds, std::vector<Ledger>& ledgers) const override;
  [[nodiscard]] bool knows_types() const override { return false; }
};

}  // namespace tidepool::policies::cluster
