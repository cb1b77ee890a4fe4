#include "straggler/relative_times.hpp"

#include <algorithm>
#include <cstddef>

#include "base/check.hpp"

namespace tidepool::straggler {
namespace {

// Each value over the median of the others; 0 where that is not known. O(n log n).
std::vector<double> over_median_of_others(const std::vector<double>& values) {
  std::vector<double> multiples(values.size(), 0);
  const bool known = values.size() >= 2 && std::all_of(values.begin(), values.end(), [](double v) { return v > 0; });
  if (!known) return multiples;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t others = values.size() - 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto own = std::lower_bound(sorted.begin(), sorted.end(), values[i]) - sorted.begin();
    // The k-th of the others, ascending.
    const auto other = [&](std::size_t k) { return sorted[k < static_cast<std::size_t>(own) ? k : k + 1]; };
    const double upper = other(others / 2);
    const double median = others % 2 == 1 ? upper : (other(others / 2 - 1) + upper) / 2;
    multiples[i] = values[i] / median;
  }
  return multiples;
}

}  // namespace

std::vector<double> relative_times(const StepTimes& step) {
  TP_CHECK(step.samples.empty() || step.samples.size() == step.compute_us.size(), "each rank has one time and share");
  std::vector<double> times(step.compute_us.begin(), step.compute_us.end());
  std::vector<double> multiples = over_median_of_others(times);
  const bool equal =
      std::adjacent_find(step.samples.begin(), step.samples.end(), std::not_equal_to<>()) == step.samples.end();
  if (equal) return multiples;
  for (std::size_t i = 0; i < times.size(); ++i) {
    times[i] = step.samples[i] > 0 ? times[i] / static_cast<double>(step.samples[i]) : 0;
  }
  const std::vector<double> by_sample = over_median_of_others(times);
  for (std::size_t i = 0; i < times.size(); ++i) multiples[i] = std::min(multiples[i], by_sample[i]);
  return multiples;
}

}  // namespace tidepool::straggler
