// The two figures by which the decision benchmarks are told.
#pragma once

#include <algorithm>
#include <vector>

namespace tidepool {

struct Times {
  double p50;
  double p99;
};

// Requires: times is not empty.
inline Times percentiles(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[times.size() * 99 / 100]};
}

}  // namespace tidepool
