// How a global batch is cut into what each worker computes at once and how often it accumulates before a step.
#pragma once

#include <vector>

namespace tidepool::policies {

struct BatchLimits {
  int initial = 1;    // the batch size for which the job's learning rate was chosen
  int largest = 1;    // of the global batch
  int local_min = 1;  // of what a worker computes at once
  int local_max = 1;
};

struct BatchSplit {
  int local = 0;       // samples a worker computes at once
  int accumulate = 0;  // further such pieces before each step
  [[nodiscard]] int global(int size) const { return size * local * (accumulate + 1); }
  bool operator==(const BatchSplit&) const = default;
};

// Accumulates only when the local batch would exceed `local_max`; a single worker above the initial batch always cuts
// its batch in two at least, because gradient noise cannot be told from one piece (Pollux's artifact).
[[nodiscard]] BatchSplit split_batch(int global, int size, const BatchLimits& limits);

// What `size` workers choose between: a geometric series of 24 global batches within the limits, each split; splits
// that leave a worker too little are left out. Rising, perhaps empty.
[[nodiscard]] std::vector<BatchSplit> batch_choices(int size, const BatchLimits& limits);

}  // namespace tidepool::policies
