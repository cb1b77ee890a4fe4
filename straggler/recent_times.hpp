// The newest relative times of a worker, kept as a ring inside its memory, and their order statistics.
// Safe rule: never request a median over more steps than have been seen; count() says how many there are.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidepool::straggler {

// The middle value; the mean of the middle two of an even number. Reorders the values. Requires: not empty.
[[nodiscard]] inline double median_in(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}
[[nodiscard]] inline double median_of(std::vector<double> values) {
  return median_in(values);
}

class RecentTimes {
 public:
  // `ring` holds the newest values of `seen` in all; the one with number i (from 0) lies at i modulo its length.
  RecentTimes(std::span<double> ring, std::int64_t seen) : ring_(ring), seen_(seen) {}

  void push(double value) { ring_[place(seen_++)] = value; }
  [[nodiscard]] std::int64_t count() const { return std::min(seen_, static_cast<std::int64_t>(ring_.size())); }

  // Of the newest `steps`. Requires: 1 <= steps <= count().
  [[nodiscard]] double median(std::int64_t steps) const {
    std::array<double, kFewSteps> few{};
    if (steps > kFewSteps) return median_of(values(0, steps));
    const auto found = std::span(few).first(static_cast<std::size_t>(steps));
    copy(0, found);
    return median_in(found);
  }
  // Mean distance from `center` of the newest `steps`, each counted as at most `clip`.
  [[nodiscard]] double clipped_mean(std::int64_t steps, double center, double clip) const {
    return clipped_means<1>({steps}, {clip}, 1, center)[0];
  }
  // The same for the newest windows[0], windows[1], ... values, each with its clip; the first `known` of them. One
  // pass that adds each sum up from its oldest value on, so the bits are those of one after the other.
  // Requires: windows ascend, and the last known one is at most count().
  template <std::size_t kCount>
  [[nodiscard]] std::array<double, kCount> clipped_means(const std::array<std::int64_t, kCount>& windows,
                                                         const std::array<double, kCount>& clips, std::size_t known,
                                                         double center) const {
    std::array<double, kCount> sums{};
    std::size_t at = known == 0 ? 0 : place(seen_ - windows[known - 1]);
    for (std::size_t first = known; first-- > 0;) {
      const std::int64_t steps = windows[first] - (first == 0 ? 0 : windows[first - 1]);
      for (std::int64_t i = 0; i < steps; ++i) {
        const double off = ring_[at] - center;
        if (++at == ring_.size()) at = 0;
        for (std::size_t each = first; each < known; ++each) sums[each] += std::clamp(off, -clips[each], clips[each]);
      }
    }
    for (std::size_t each = 0; each < known; ++each) sums[each] /= static_cast<double>(windows[each]);
    return sums;
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
  static constexpr std::int64_t kFewSteps = 32;  // are looked at without an allocation

  [[nodiscard]] std::size_t place(std::int64_t number) const {
    return static_cast<std::size_t>(number % static_cast<std::int64_t>(ring_.size()));
  }
  // `steps` of them, the newest `skipped` left out.
  [[nodiscard]] std::vector<double> values(std::int64_t skipped, std::int64_t steps) const {
    std::vector<double> found(static_cast<std::size_t>(steps));
    copy(skipped, found);
    return found;
  }
  void copy(std::int64_t skipped, std::span<double> into) const {
    if (into.empty()) return;
    std::size_t at = place(seen_ - skipped - static_cast<std::int64_t>(into.size()));
    for (double& value : into) {
      value = ring_[at];
      if (++at == ring_.size()) at = 0;
    }
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
