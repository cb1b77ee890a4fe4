#include "studies/models/batch_split.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace tidepool::policies {
namespace {

constexpr int kBatches = 24;

int divide_up(int dividend, int divisor) {
  return (dividend + divisor - 1) / divisor;
}

}  // namespace

BatchSplit split_batch(int global, int size, const BatchLimits& limits) {
  TP_CHECK(global > 0 && size > 0 && limits.local_max > 0, "a batch and its workers are counted from 1");
  BatchSplit split;
  const int whole = divide_up(global, size);
  split.accumulate = divide_up(whole, limits.local_max) - 1;
  if (size == 1 && global > limits.initial) split.accumulate = std::max(1, split.accumulate);
  split.local = divide_up(whole, split.accumulate + 1);
  // Rounding up must not carry the global batch above the largest one.
  split.local = std::min(split.local, limits.largest / (size * (split.accumulate + 1)));
  return split;
}

std::vector<BatchSplit> batch_choices(int size, const BatchLimits& limits) {
  const double least = std::max(limits.initial, limits.local_min * size);
  std::vector<BatchSplit> choices;
  if (least > limits.largest) return choices;
  const double ratio = std::pow(limits.largest / least, 1.0 / (kBatches - 1));
  BatchSplit before;
  double batch = least;
  for (int i = 0; i < kBatches; ++i, batch *= ratio) {
    const BatchSplit split = split_batch(static_cast<int>(std::ceil(batch - 1e-6)), size, limits);
    if (split == before || split.local < limits.local_min || split.local > limits.local_max) continue;
    choices.push_back(before = split);
  }
  return choices;
}

}  // namespace tidepool::policies
