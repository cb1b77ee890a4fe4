#include "workers/runtime/numerics/step_schedule.hpp"

#include <bit>
#include <cmath>

#include "base/check.hpp"

namespace tidepool::runtime {

std::array<std::int64_t, kScheduleWords> to_words(const ScheduleState& state) {
  const auto bits = [](double number) { return std::bit_cast<std::int64_t>(number); };
  return {static_cast<std::int64_t>(state.global_batch),
          bits(state.lr_factor),
          bits(state.ramp_from),
          state.ramp_begin,
          bits(state.chosen_factor),
          bits(state.noise.trace),
          bits(state.noise.square),
          bits(state.noise.weight),
          state.noise.count,
          state.noise.biased ? 1 : 0};
}

ScheduleState schedule_from_words(std::span<const std::int64_t, kScheduleWords> words) {
  const auto number = [&](std::size_t at) { return std::bit_cast<double>(words[at]); };
  return {
      .global_batch = static_cast<std::uint64_t>(words[0]),
      .lr_factor = number(1),
      .ramp_from = number(2),
      .ramp_begin = words[3],
      .chosen_factor = number(4),
      .noise = {
          .trace = number(5), .square = number(6), .weight = number(7), .count = words[8], .biased = words[9] != 0}};
}

bool is_sound(const ScheduleState& state, std::int64_t steps) {
  const auto factor = [](double number) { return std::isfinite(number) && number > 0; };
  const NoiseAverage& noise = state.noise;
  const bool averages = std::isfinite(noise.trace) && std::isfinite(noise.square) && std::isfinite(noise.weight);
  return factor(state.lr_factor) && factor(state.ramp_from) && factor(state.chosen_factor) && averages &&
         state.ramp_begin >= 0 && state.ramp_begin <= steps && noise.count >= 0;
}

void StepSchedule::enter(int size, std::int64_t steps) {
  const std::uint64_t batch = batch_for(rules_, size);
  if (batch == state_.global_batch) return;  // a ramp in progress continues
  state_.global_batch = batch;
  begin_ramp(steps);
}

void StepSchedule::enter(const BatchChoice& choice, std::int64_t steps) {
  TP_CHECK(rules_.on_resize == OnResize::kCallback, "only the callback rule leaves the batch to the program");
  if (choice.global_batch == state_.global_batch && choice.lr_factor == state_.chosen_factor) return;
  state_.global_batch = choice.global_batch;
  state_.chosen_factor = choice.lr_factor;
  begin_ramp(steps);
}

// Starts from the factor that was last applied, so that a generation without a committed step has no effect.
void StepSchedule::begin_ramp(std::int64_t steps) {
  state_.ramp_from = state_.lr_factor;
  state_.ramp_begin = steps;
}

double StepSchedule::target() const {
  if (rules_.on_resize == OnResize::kCallback) return state_.chosen_factor;
  return lr_target(rules_, state_.global_batch, noise_scale());
}

StepFactors StepSchedule::factors(std::int64_t steps) const {
  TP_CHECK(state_.global_batch > 0 && steps >= state_.ramp_begin, "a step belongs to a generation");
  const double goal = target();
  const std::int64_t into = steps - state_.ramp_begin + 1;  // 1 at the first step with the new batch
  double factor = goal;
  if (goal > state_.ramp_from && into < rules_.warmup_steps) {
    const double share = static_cast<double>(into) / static_cast<double>(rules_.warmup_steps);
    factor = state_.ramp_from + (goal - state_.ramp_from) * share;
  }
  return {.lr_factor = factor, .momentum_factor = factor / state_.lr_factor};
}

void StepSchedule::commit(std::int64_t steps, const std::optional<NoiseSample>& noise) {
  state_.lr_factor = factors(steps).lr_factor;
  if (noise) state_.noise.add(*noise);
}

BatchQuestion StepSchedule::question(int size, std::int64_t steps) const {
  return {.size = size,
          .step = steps,
          .global_batch = state_.global_batch,
          .lr_factor = state_.lr_factor,
          .noise_scale = noise_scale()};
}

}  // namespace tidepool::runtime
