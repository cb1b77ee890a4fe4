#include "core/facts/throughput.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace tidepool::core {

namespace {

std::int64_t steps_kept(const SizeRecord& record) {
  if (!(record.step_seconds > 0)) return kMemorySteps;
  const double steps = std::min(1e9, kMemoryTime.to_seconds() / record.step_seconds);
  return std::max(kMemorySteps, static_cast<std::int64_t>(steps));
}

}  // namespace

void add_measurement(SizeRecord& record, const StepsMeasured& report, std::int64_t counted, Instant at) {
  TP_CHECK(counted >= 1 && counted <= report.steps, "a measurement counts some of its own steps");
  const double step_seconds = report.elapsed.to_seconds() / static_cast<double>(report.steps);
  const double samples_per_step = static_cast<double>(report.samples) / static_cast<double>(report.steps);
  // Whole half-lives only: ldexp is exact on every machine, a power with a fraction is not.
  const std::int64_t half_lives = (at - record.measured_at).count_us() / kMemoryHalfLife.count_us();
  const int fading = static_cast<int>(std::clamp<std::int64_t>(half_lives, 0, 1000));
  const double old_weight = std::ldexp(static_cast<double>(std::min(record.steps, steps_kept(record))), -fading);
  const double share = static_cast<double>(counted) / (old_weight + static_cast<double>(counted));
  // A mean of the reports' rates would be too high: it weighs each step equally, however short.
  double samples = record.samples_per_second * record.step_seconds;
  samples += share * (samples_per_step - samples);
  record.step_seconds += share * (step_seconds - record.step_seconds);
  record.samples_per_second = samples / record.step_seconds;
  record.steps += counted;
  record.measured_at = at;
}

void add_to_size_change(Job& job, const StepsMeasured& report, std::int64_t counted, Instant at) {
  const auto before = job.measurements.sizes.find(job.membership.commit.from_size);
  if (before == job.measurements.sizes.end() || before->first == job.size() || !job.last_resize_at) return;
  SizeChange& change = job.measurements.sizes.at(job.size()).entered;
  if (change.from != before->first || change.at != *job.last_resize_at) {
    change = {.from = before->first, .from_rate = before->second.samples_per_second, .at = *job.last_resize_at};
  }
  const bool long_enough = job.measurements.steps_since_switch - counted >= job.spec.scaling.every_steps;
  const bool complete = change.over > Duration() && long_enough && at > change.at + job.spec.elastic.cooldown;
  if (complete || counted < report.steps) return;
  const double seconds = change.over.to_seconds() + report.elapsed.to_seconds();
  change.rate = (change.rate * change.over.to_seconds() + static_cast<double>(report.samples)) / seconds;
  change.over = change.over + report.elapsed;
}

std::optional<double> statistical_efficiency(const Job& job) {
  if (!job.progress.noise_scale || job.progress.global_batch <= 0) return std::nullopt;
  const double base = static_cast<double>(job.spec.batch.global);
  return (*job.progress.noise_scale + base) /
         (*job.progress.noise_scale + static_cast<double>(job.progress.global_batch));
}

bool is_measured(const SizeRecord& record, const Job& job) {
  return record.steps >= job.spec.scaling.every_steps;
}

std::int64_t counted_steps(const StepsMeasured& report, std::int64_t switch_step) {
  const std::int64_t first = report.last_step - report.steps + 1;
  return first == switch_step ? report.steps - 1 : report.steps;
}

}  // namespace tidepool::core
