#include "policies/tidal/standing.hpp"

#include <algorithm>
#include <cmath>

namespace tidepool::policies::tidal {
namespace {

constexpr double kStep = 1.05;
constexpr int kExact = 16;

double rounded(int count) {
  if (count <= kExact) return std::max(1, count);
  const double steps = std::floor(std::log2(double(count) / kExact) * kExact);
  return kExact * std::exp2(steps / kExact);
}

}  // namespace

Standing::Class Standing::class_of(double seconds_left) {
  const double steps = std::log(std::max(1.0, seconds_left)) / std::log(kStep);
  return static_cast<Class>(std::min(steps, double(kClasses - 1)));
}

std::vector<double> Standing::behind() const {
  std::vector<double> behind(kClasses);
  int count = 0;
  for (Class at = kClasses; at-- > 0;) {
    count += counts_[at];
    behind[at] = rounded(count);
  }
  return behind;
}

}  // namespace tidepool::policies::tidal
