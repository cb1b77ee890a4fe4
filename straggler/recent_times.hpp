// The newest relative times of a worker, kept as a ring inside its memory, and their order statistics.
// Safe rule: a median over more steps than have been seen is not asked for; count() says how many there are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidepool::straggler {

// The middle value; the mean of the middle two of an even number. Requires: not empty.
[[nodiscard]] inline double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

class RecentTimes {
 public:
  // `ring` holds the newest values of `seen` in all; the one with number i (from 0) lies at i modulo its length.
  RecentTimes(std::span<double> ring, std::int64_t seen) : ring_(ring), seen_(seen) {}

  void push(double value) { ring_[place(seen_++)] = value; }
  [[nodiscard]] std::int64_t count() const { return std::min(seen_, static_cast<std::int64_t>(ring_.size())); }

  // Of the newest `steps`. Requires: 1 <= steps <= count().
  [[nodiscard]] double median(std::int64_t steps) const { return median_of(values(0, steps)); }
  // Mean distance from `center` of the newest `steps`, each counted as at most `clip`.
  [[nodiscard]] double clipped_mean(std::int64_t steps, double center, double clip) const {
    double sum = 0;
    for (std::int64_t i = seen_ - steps; i < seen_; ++i) sum += std::clamp(ring_[place(i)] - center, -clip, clip);
    return sum / static_cast<double>(steps);
  }
  // Median distance from `center`. Requires: count() >= 1.
  [[nodiscard]] double distance(double center) const { return distance_from(center, values(0, count())); }
  // Median distance from the median, of the older and of the newer half, whichever is less: a shift inside one of
  // them is no spread. Requires: count() >= 1.
  [[nodiscard]] double spread() const {
    const std::int64_t newer = (count() + 1) / 2;
    const double first = distance_of(values(0, newer));
    return count() < 2 ? first : std::min(first, distance_of(values(newer, count() - newer)));
  }

 private:
  [[nodiscard]] std::size_t place(std::int64_t number) const {
    return static_cast<std::size_t>(number % static_cast<std::int64_t>(ring_.size()));
  }
  // `steps` of them, the newest `skipped` left out.
  [[nodiscard]] std::vector<double> values(std::int64_t skipped, std::int64_t steps) const {
    std::vector<double> found;
    found.reserve(static_cast<std::size_t>(steps));
    for (std::int64_t i = seen_ - skipped - steps; i < seen_ - skipped; ++i) found.push_back(ring_[place(i)]);
    return found;
  }
  [[nodiscard]] static double distance_of(std::vector<double> values) {
    const double center = median_of(values);
    return distance_from(center, std::move(values));
  }
  [[nodiscard]] static double distance_from(double center, std::vector<double> values) {
    for (double& value : values) value = value < center ? center - value : value - center;
    return median_of(std::move(values));
  }

  std::span<double> ring_;
  std::int64_t seen_;
};

}  // namespace tidepool::straggler
