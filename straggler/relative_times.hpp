// What one step says about each rank: its compute time as a multiple of the others'. All detectors start from it.
// Safe rule: only compute time before the allreduce is valid input; step time rises for all ranks together.
//
// 1 = as slow as the others, 2 = takes twice as long; 0 = the step says nothing about this rank (fewer than two ranks,
// a time that is not positive, no samples). The others' time is their median: with two ranks the median of both would
// be their mean, and a worker 1.5 times slower would look 1.2 times slower.
//
// Where the ranks had unequal numbers of samples, a rank counts as slow only as far as it is slow both by the step and
// by the sample: more samples explain a long step, and a cost that does not grow with the samples explains a long time
// per sample. The smaller of the two multiples is used.
//
// The multiples do not change when all times are multiplied by a constant, and follow the ranks when these are
// permuted.
#pragma once

#include <cstdint>
#include <vector>

namespace tidepool::straggler {

// What the ranks of one job did in one step.
struct StepTimes {
  std::vector<std::int64_t> compute_us;  // by rank, from the step's start to the allreduce
  std::vector<std::int64_t> samples;     // by rank; empty = equal shares
};

// By rank. Requires: `samples` is empty or as long as `compute_us`.
[[nodiscard]] std::vector<double> relative_times(const StepTimes& step);

}  // namespace tidepool::straggler
