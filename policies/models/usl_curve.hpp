// Fits the Universal Scalability Law to what a job has measured: throughput as a smooth curve of size.
// The dashboard's line, and the estimate that policies use for sizes that were not measured.
//
//   X(k) = lambda k / (1 + sigma (k - 1) + kappa k (k - 1))
//
// lambda: throughput of one worker; sigma: share of the work that does not run side by side; kappa: cost of
// every pair of workers keeping in step (above zero the curve has a peak). N. J. Gunther, "Guerrilla Capacity
// Planning", Springer 2007, chapter 4.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::policies {

struct UslCurve {
  double lambda = 0;  // samples per second, > 0
  double sigma = 0;   // >= 0
  double kappa = 0;   // >= 0

  // Throughput in samples per second at `size` workers. Requires: size >= 1.
  [[nodiscard]] double at(int size) const;
};

struct ThroughputPoint {
  int size = 1;                   // >= 1
  double samples_per_second = 0;  // > 0
  double weight = 1;              // > 0, such as the number of steps measured
};

// Weighted least squares of the relative error in k/X, which is linear in 1/lambda, sigma/lambda and kappa/lambda, none
// of them negative. One distinct size gives lambda alone, two give lambda and sigma, more give all three. Points
// outside the stated bounds are left out; without points there is no curve.
[[nodiscard]] std::optional<UslCurve> fit_usl(const std::vector<ThroughputPoint>& points);

// The same from a job's records; the weight of a record is its number of steps, at most 1,000.
[[nodiscard]] std::optional<UslCurve> fit_usl(const std::map<int, core::SizeRecord>& sizes);
[[nodiscard]] ThroughputPoint point_of(int size, const core::SizeRecord& record);

}  // namespace tidepool::policies
