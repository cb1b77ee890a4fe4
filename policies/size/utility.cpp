#include "policies/size/utility.hpp"

#include <cstddef>

namespace tidepool::policies {
namespace {

double piecewise_at(const core::PiecewiseUtility& utility, double t) {
  const auto& points = utility.points;
  if (t <= points.front().at.to_seconds()) return points.front().value;
  std::size_t end = 1;  // end of the line segment that contains t; the last one continues
  while (end + 1 < points.size() && points[end].at.to_seconds() < t) ++end;
  const double from = points[end - 1].at.to_seconds();
  const double to = points[end].at.to_seconds();
  const double slope = (points[end].value - points[end - 1].value) / (to - from);
  return points[end - 1].value + slope * (t - from);
}

}  // namespace

bool has_utility(const core::ScalingSpec& scaling) {
  return scaling.linear_utility.has_value() || scaling.piecewise_utility.has_value();
}

double utility_at(const core::ScalingSpec& scaling, double after_seconds) {
  if (scaling.linear_utility) {
    return scaling.linear_utility->value * (1 - after_seconds / scaling.linear_utility->zero_at.to_seconds());
  }
  return piecewise_at(*scaling.piecewise_utility, after_seconds);
}

}  // namespace tidepool::policies
