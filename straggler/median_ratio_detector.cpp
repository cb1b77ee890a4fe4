#include "straggler/median_ratio_detector.hpp"

#include <algorithm>
#include <cstddef>

namespace tidepool::straggler {
namespace {

// Median of `all` without one entry equal to `own`; the mean of the middle two if their number is even.
// Requires: at least one other entry.
double median_of_others(const std::vector<std::int64_t>& all, std::int64_t own) {
  std::vector<std::int64_t> others = all;
  if (const auto self = std::find(others.begin(), others.end(), own); self != others.end()) others.erase(self);
  const std::size_t middle = others.size() / 2;
  std::nth_element(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(middle), others.end());
  const auto upper = static_cast<double>(others[middle]);
  if (others.size() % 2 == 1) return upper;
  const auto lower = std::max_element(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(middle));
  return (static_cast<double>(*lower) + upper) / 2;
}

}  // namespace

double MedianRatioDetector::score(double previous, std::int64_t steps_seen, std::int64_t own_us,
                                  const std::vector<std::int64_t>& all_us) const {
  const double before = steps_seen == 0 ? 1 : previous;
  if (all_us.size() < 2 || own_us <= 0) return before;
  const double others = median_of_others(all_us, own_us);
  if (others <= 0) return before;
  const double fraction = std::min(kFractionMax, others / static_cast<double>(own_us));
  return steps_seen == 0 ? fraction : kWeightOfNewest * fraction + (1 - kWeightOfNewest) * before;
}

bool MedianRatioDetector::is_straggler(double score, std::int64_t steps_seen) const {
  return steps_seen >= kStepsForVerdict && score < kThreshold;
}

}  // namespace tidepool::straggler
