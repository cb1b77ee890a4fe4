#include "policies/tidal/delay_cost.hpp"

#include <algorithm>
#include <cmath>

#include "policies/size/utility.hpp"

namespace tidepool::policies::tidal {
namespace {

constexpr double kFactorMost = 16;
constexpr double kStepLeast = 60;  // seconds
constexpr double kStepsInLeft = 8;
constexpr double kLeftMost = 1e8;  // seconds: three years
constexpr double kHour = 3'600;    // seconds

}  // namespace

DelayCost::DelayCost(const cluster::JobRow& job, double left_s) {
  if (job.scaling == nullptr || !has_utility(*job.scaling) || !(job.slot_price > 0)) return;
  scaling_ = job.scaling;
  submitted_ = job.submitted;
  slot_price_ = job.slot_price;
  left_s_ = std::min(left_s, kLeftMost);
  step_ = Duration::from_seconds(std::max(kStepLeast, left_s_ / kStepsInLeft));
  if (!scaling_->piecewise_utility) return;
  const auto& points = scaling_->piecewise_utility->points;
  const double last_line_s = points[points.size() - 2].at.to_seconds() - left_s_;
  steps_most_ = static_cast<std::int64_t>(std::ceil(std::max(0.0, last_line_s) / step_.to_seconds()));
}

std::int64_t DelayCost::steps(Instant now) const {
  return std::clamp<std::int64_t>((now - submitted_).count_us() / step_.count_us(), 0, steps_most_);
}

double DelayCost::factor(Instant now) const {
  if (scaling_ == nullptr) return 1;
  const double end = static_cast<double>(steps(now)) * step_.to_seconds() + left_s_;
  const double lost = utility_at(*scaling_, end) - utility_at(*scaling_, end + left_s_);
  return std::clamp(lost / left_s_ * kHour / slot_price_, 1 / kFactorMost, kFactorMost);
}

std::optional<Instant> DelayCost::changes_after(Instant now) const {
  if (scaling_ == nullptr || steps(now) == steps_most_) return std::nullopt;
  return submitted_ + Duration::micros((steps(now) + 1) * step_.count_us());
}

}  // namespace tidepool::policies::tidal
