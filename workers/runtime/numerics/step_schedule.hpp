// The batch and the factors of learning rate and momentum at each step, over all changes of size.
//
// When the batch and the rate grow k-fold, the velocity still contains the noise of the small batch, which the larger
// rate would amplify k times. So the rate and the scale of the old velocity rise together, linearly over T steps
// (momentum compensation: Lin et al., arXiv:1904.12043; T = 8 as they advise). A smaller rate applies at once, because
// a small batch cannot be trained at the large batch's rate.
//
// For an optimizer whose velocity is a movement of the parameters, u = m * momentum_factor * u + lr * lr_factor * g, p
// = p - u (the trainer's, Keras, MXNet), both factors apply. An optimizer whose velocity is an average of gradients, v
// = m * v + g, p = p - lr * lr_factor * v (PyTorch's SGD), scales the old velocity by its rate anyway: it must not
// apply momentum_factor as well.
//
// All ranks adopt the same state before a generation and see the same sums, so they agree bit for bit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "workers/runtime/numerics/batch_rules.hpp"
#include "workers/runtime/numerics/noise_scale.hpp"

namespace tidepool::runtime {

// Plain data, a part of the replicated progress.
struct ScheduleState {
  std::uint64_t global_batch = 0;  // of the present generation; 0 before the first
  double lr_factor = 1;            // applied in the last committed step
  double ramp_from = 1;            // the factor before the last change of the batch
  std::int64_t ramp_begin = 0;     // number of committed steps at that change
  double chosen_factor = 1;        // for callback: the program's answer
  NoiseAverage noise;

  bool operator==(const ScheduleState&) const = default;
};

// The state as words for sending, bit for bit.
inline constexpr std::size_t kScheduleWords = 10;
[[nodiscard]] std::array<std::int64_t, kScheduleWords> to_words(const ScheduleState& state);
[[nodiscard]] ScheduleState schedule_from_words(std::span<const std::int64_t, kScheduleWords> words);
// Whether training can continue from a state that was read from a file, after `steps` committed steps.
[[nodiscard]] bool is_sound(const ScheduleState& state, std::int64_t steps);

struct StepFactors {
  double lr_factor = 1;
  double momentum_factor = 1;
};

class StepSchedule {
 public:
  // Requires: the rules have passed check_rules().
  explicit StepSchedule(BatchRules rules) : rules_(rules) {}

  // A generation begins after `steps` committed steps. A generation in which no step was committed has no effect on
  // later factors.
  void enter(int size, std::int64_t steps);
  void enter(const BatchChoice& choice, std::int64_t steps);

  [[nodiscard]] std::uint64_t global_batch() const { return state_.global_batch; }

  // The factors of the step that follows `steps` committed ones.
  [[nodiscard]] StepFactors factors(std::int64_t steps) const;

  // Call when that step has committed; `noise` is its measurement, if it made one.
  void commit(std::int64_t steps, const std::optional<NoiseSample>& noise);

  [[nodiscard]] std::optional<double> noise_scale() const { return state_.noise.noise_scale(); }
  [[nodiscard]] BatchQuestion question(int size, std::int64_t steps) const;
  [[nodiscard]] const BatchRules& rules() const { return rules_; }
  [[nodiscard]] const ScheduleState& state() const { return state_; }
  void adopt(const ScheduleState& state) { state_ = state; }

 private:
  void begin_ramp(std::int64_t steps);
  [[nodiscard]] double target() const;

  BatchRules rules_;
  ScheduleState state_;
};

}  // namespace tidepool::runtime
