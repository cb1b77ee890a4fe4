// Pollux's step-time model (Qiao et al., OSDI 2021, section 3.2), fitted to what was measured so far:
//   compute(m)  = a_c + b_c m                                   m = samples a worker computes at once
//   sync(K, N)  = 0 if K = 1;  a_r + b_r (K - 2) on one node;  a_n + b_n (K - 2) across nodes
//   step        = (compute^gamma + sync^gamma)^(1/gamma),       gamma in [1, 10]: 1 = no overlap, large = full overlap
// and a step with s accumulations takes s compute + step. Departs from Pollux in the fit: least squares of logarithms
// by Levenberg and Marquardt on logarithms of the parameters, instead of the root mean square by L-BFGS-B.
// What no measurement can tell is taken optimistically, as Pollux does, so that a policy has reason to try it: sync is
// free where it was never seen, across nodes at least 1.1 times what it is on one.
#pragma once

#include <vector>

#include "policies/cluster/cluster_view.hpp"
#include "studies/models/measured_profile.hpp"

namespace tidepool::policies {

struct StepMeasurement {
  cluster::Shape shape;
  int local_batch = 1;
  StepTime time;
};

struct StepTimeModel {
  double compute_base = 0;  // a_c, seconds
  double compute_each = 0;  // b_c, seconds a sample
  double node_base = 0;     // a_n
  double node_each = 0;     // b_n
  double local_base = 0;    // a_r
  double local_each = 0;    // b_r
  double overlap = 1;       // gamma

  [[nodiscard]] double compute_seconds(double local_batch) const { return compute_base + compute_each * local_batch; }
  [[nodiscard]] double sync_seconds(cluster::Shape shape) const;
  // One step without accumulation.
  [[nodiscard]] double step_seconds(cluster::Shape shape, double local_batch) const;
};

// Mean |log(predicted / measured)| of whole steps; 0 without measurements.
[[nodiscard]] double fit_error(const StepTimeModel& model, const std::vector<StepMeasurement>& measurements);

// Requires: at least one measurement. `start`: where to begin, such as the last fit; one that leads to a poor fit is
// left for the usual start.
[[nodiscard]] StepTimeModel fit_step_time(const std::vector<StepMeasurement>& measurements,
                                          const StepTimeModel* start = nullptr);

}  // namespace tidepool::policies
