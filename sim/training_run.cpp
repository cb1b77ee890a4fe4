#include "sim/training_run.hpp"

#include <algorithm>

namespace tidepool::sim {

void TrainingRun::advance(Instant now) {
  if (!stepping || now <= since) return;
  const std::int64_t complete = (now - since).count_us() / step_time.count_us();
  const std::int64_t steps = std::min(complete, total_steps() - step);
  step += steps;
  since = since + step_time * steps;
}

void TrainingRun::begin(Instant now, Duration step_time_now) {
  stepping = true;
  since = now;
  step_time = step_time_now;
  reported_until = now;
  reported = step;
}

std::int64_t TrainingRun::next_report_steps(Duration every, std::int64_t steps_max) const {
  const std::int64_t wanted = std::clamp<std::int64_t>(every.count_us() / step_time.count_us(), 1, steps_max);
  return std::max<std::int64_t>(1, std::min(wanted, total_steps() - step));
}

std::optional<api::StepsMessage> TrainingRun::take_report(const std::vector<RankPace>& paces) {
  const std::int64_t steps = step - reported;
  if (steps <= 0) return std::nullopt;
  api::StepsMessage report{.generation = generation,
                           .last_step = step,
                           .steps = steps,
                           .elapsed_us = (since - reported_until).count_us(),
                           .samples = steps * truth.global_batch,
                           .loss = loss(),
                           .samples_total = step * truth.global_batch,
                           .shares = shares.number};
  if (!paces.empty()) report.compute_us = draw_compute_us(truth, steps, paces, rng);
  reported = step;
  reported_until = since;
  return report;
}

double TrainingRun::loss() const {
  const double progress = static_cast<double>(step) / static_cast<double>(total_steps());
  return 0.5 + 3.5 / (1 + 9 * progress);
}

}  // namespace tidepool::sim
