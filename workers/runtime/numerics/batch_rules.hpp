// How many samples a step has at each number of workers, and how the learning rate follows. The program
// chose its rate for one batch, the base batch; every factor here is relative to that rate.
//
//   rule       global batch      learning rate
//   constant   base              1
//   linear     base * n / n0     S                     Goyal et al., arXiv:1706.02677, section 2.1
//   sqrt       base * n / n0     sqrt(S)               Krizhevsky, arXiv:1404.5997
//   adascale   base * n / n0     gain of noise_scale   Johnson et al., ICML 2020 (AdaScale)
//   fixed_local  base * n / n0   1                     Or, Zhang, Freedman, MLSys 2020
//   callback   as the program's function returns, both
//
// with n workers, n0 = base_size and S = global batch / base batch. If max_batch is set, no batch exceeds it: under
// fixed_local each worker keeps its part of the base batch until the batch reaches max_batch; with more workers,
// max_batch is split over them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace tidepool::runtime {

enum class OnResize { kConstant, kLinear, kSqrt, kAdaScale, kCallback, kFixedLocal };

// T of Lin et al., arXiv:1904.12043: a larger rate is reached over this number of steps.
inline constexpr int kWarmupSteps = 8;

// The same on every worker of a job.
struct BatchRules {
  OnResize on_resize = OnResize::kConstant;
  std::uint64_t base_batch = 1;     // samples per step for which the program's learning rate is meant, > 0
  int base_size = 1;                // number of workers at which the batch is base_batch, > 0
  int warmup_steps = kWarmupSteps;  // 0 = a new rate applies at once
  std::uint64_t max_batch = 0;      // limit for the rules that scale the batch, >= base_batch; 0 = none
};

// Input of kCallback's function. One worker calls it, and its answer applies to all.
struct BatchQuestion {
  int size = 1;                       // workers of the generation that begins
  std::int64_t step = 0;              // committed so far
  std::uint64_t global_batch = 0;     // of the previous generation; 0 at the very beginning
  double lr_factor = 1;               // of the previous generation
  std::optional<double> noise_scale;  // in samples; none until it has been measured
};
struct BatchChoice {
  std::uint64_t global_batch = 1;
  double lr_factor = 1;
};

// "constant", "linear", "sqrt", "adascale", "callback" or "fixed_local", as in a job file.
[[nodiscard]] Result<OnResize> parse_on_resize(const std::string& word);

// Equal rules have equal fingerprints.
[[nodiscard]] std::uint64_t fingerprint(const BatchRules& rules);

// An error that says what is wrong with the rules, if anything.
[[nodiscard]] Status check_rules(const BatchRules& rules);
[[nodiscard]] Status check_choice(const BatchChoice& choice);

// Samples per step for `size` workers, rounded to the nearest and at least 1. Not for kCallback.
[[nodiscard]] std::uint64_t batch_for(const BatchRules& rules, int size);

// The learning rate's factor after the warm-up. Only adascale uses `noise_scale`; it keeps the base rate until there is
// an estimate. Not for kCallback.
[[nodiscard]] double lr_target(const BatchRules& rules, std::uint64_t batch, std::optional<double> noise_scale);

// The samples of a share that are computed at once if a worker can hold at most `part_max` samples (0 = no limit):
// parts are as equal as possible, and their gradients are added up. At least 1.
[[nodiscard]] std::uint64_t part_of_share(std::uint64_t share, std::uint64_t part_max);

}  // namespace tidepool::runtime
