// How a number of slots is divided by weight among several that want them: the water level.
//
//   x_i = clamp(w_i L - o_i, 0, cap_i),  sum of x_i = min(amount, sum of cap_i)
//
// L is the level, the same for all; o_i is the amount that counts as filled for i in advance. So each gets what it can
// use, in proportion to its weight, and what one cannot use goes to the others (weighted max-min fairness; Bertsekas
// and Gallager, "Data Networks", section 6.5.2). Weight 0 gets only what is left once all others have their caps;
// several with weight 0 share it evenly.
//
// Whole slots: each gets its x_i rounded down, and the rest goes to the largest remainders, among equal ones to the
// first. The computation costs O(n log n).
#pragma once

#include <cstdint>
#include <vector>

namespace tidepool::core {

struct Basin {
  int cap = 0;              // slots, >= 0
  std::int64_t weight = 1;  // >= 0
  double offset = 0;        // slots, >= 0
};

// By basin. The sum is min(amount, sum of caps). Requires: amount >= 0.
[[nodiscard]] std::vector<int> fill(const std::vector<Basin>& basins, int amount);
// The same before rounding to whole slots.
[[nodiscard]] std::vector<double> fill_exactly(const std::vector<Basin>& basins, double amount);

}  // namespace tidepool::core
