#include "sim/training_run.hpp"

#include <algorithm>
#include <numeric>

namespace tidepool::sim {

void TrainingRun::advance(Instant now) {
  if (!stepping || now <= since) return;
  const std::int64_t complete = (now - since).count_us() / step_time.count_us();
  const std::int64_t steps = std::min(complete, steps_left());
  step += steps;
  if (program && steps > 0) {
    program->commit(steps);
    stretch_left -= steps;
  }
  since = since + step_time * steps;
}

Duration TrainingRun::next_step_time(const std::vector<int>& workers, double slowdown) {
  if (!program) return draw_step(truth, std::accumulate(workers.begin(), workers.end(), 0), slowdown, rng);
  stretch = program->go_on(workers);
  stretch_left = stretch.steps;
  return draw_around(stretch.step_s * slowdown, truth.noise, rng);
}

std::int64_t TrainingRun::samples_total() const {
  return program ? program->samples_taught() : step * truth.global_batch;
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
  return std::max<std::int64_t>(1, std::min(wanted, steps_left()));
}

std::optional<api::StepsMessage> TrainingRun::take_report(const std::vector<RankPace>& paces) {
  const std::int64_t steps = step - reported;
  if (steps <= 0) return std::nullopt;
  api::StepsMessage report{.generation = generation,
                           .last_step = step,
                           .steps = steps,
                           .elapsed_us = (since - reported_until).count_us(),
                           .samples = steps * (program ? stretch.batch : truth.global_batch),
                           .loss = loss(),
                           .samples_total = samples_total(),
                           .shares = shares.number};
  if (program) {
    report.global_batch = stretch.batch;
    report.noise_scale = stretch.noise_scale;
  }
  if (!paces.empty()) report.compute_us = draw_compute_us(truth, steps, paces, rng);
  reported = step;
  reported_until = since;
  return report;
}

double TrainingRun::loss() const {
  const double all = static_cast<double>(program ? truth.work_samples : steps_of(truth) * truth.global_batch);
  const double progress = static_cast<double>(samples_total()) / all;
  return 0.5 + 3.5 / (1 + 9 * progress);
}

}  // namespace tidepool::sim
