// The autoscaling engine for a whole cluster: the rules that let one job grow (Or, Zhang, Freedman: "Resource
// Elasticity in Distributed Deep Learning", MLSys 2020, section 4; see size/autoscaling_engine.hpp) decide between
// jobs. Each job has a ladder of its allowed sizes, at least N workers apart. Every job gets its lowest rung in order
// of submission; then, repeatedly, the next rung goes to the job with the best scale condition among those that pass
// it:
//   throughput scaling efficiency  s = [(R(k2) - R(k1)) / (k2 - k1)] / [R(k1) / k1],              passes iff s > S
//   utility, where its user states one  g = [U(T(k2)) - U(T(k1)) - cost(k2) + cost(k1)] / cost(k1),  passes iff g > 0
// R = steps a second at the declared batch, T(k) = time since submission + steps left / R(k), cost(k) = k x slot price
// x steps left / R(k). s says what a worker adds in shares of what one brings now, g what it brings in shares of what
// is spent now, so both are compared as they are. A ladder ends before its first rung that fails: the retreat of the
// paper's rules 3 to 5. A rung above the largest size that the job has been measured at counts like the last measured
// one, 1 before there is one: the job climbs one rung a round to find out.
// Departs from the paper in that: jobs start at the bottom, so its exploring downwards does not happen; nothing is
// re-measured at the size that failed; work that is not declared counts as the next hour's.
#pragma once

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

class ClusterAutoscaling final : public AllocationPolicy {
 public:
  // For jobs whose users set nothing else. The paper's artifact has N = 4, with which 64 slots serve 16 jobs at most.
  struct Settings {
    int spawn_size = 1;                 // N
    double efficiency_threshold = 0.1;  // S
  };
  ClusterAutoscaling() = default;
  explicit ClusterAutoscaling(const Settings& settings) : settings_(settings) {}

  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;

 private:
  Settings settings_;
};

}  // namespace tidepool::policies::cluster
