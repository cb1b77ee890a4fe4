#include "core/state/measured/job_work.hpp"

#include <algorithm>

#include "core/state/measured/change_costs.hpp"

namespace tidepool::core {
namespace {

constexpr double kLongestS = 1e9;  // keeps the end on the time line

}  // namespace

std::optional<double> samples_left(const Job& job) {
  const auto left = [](std::int64_t all, std::int64_t done) {
    return static_cast<double>(std::max<std::int64_t>(0, all - done));
  };
  if (job.spec.work_samples) return left(*job.spec.work_samples, job.progress.samples);
  const ProgramLength& told = job.progress.length;
  if (told.samples) return left(*told.samples, job.progress.samples);
  if (!told.steps) return std::nullopt;
  const std::int64_t batch = job.progress.global_batch > 0 ? job.progress.global_batch : job.spec.batch.global;
  return left(*told.steps, job.progress.step) * static_cast<double>(batch);
}

std::optional<std::int64_t> steps_in_file(const RunSpec& run) {
  const auto steps = run.args.find("steps");
  if (run.trainer.empty() || steps == run.args.end()) return std::nullopt;
  const auto* plain = std::get_if<Argument::Plain>(&steps->second.value);
  const auto* whole = plain == nullptr ? nullptr : std::get_if<std::int64_t>(plain);
  return whole == nullptr ? std::nullopt : std::optional(*whole);
}

std::optional<Instant> expected_end(const Job& job) {
  const auto left = samples_left(job);
  if (!left || !job.membership.switched || !job.progress.reported_at) return std::nullopt;
  const auto record = job.measurements.sizes.find(job.size());
  if (record == job.measurements.sizes.end() || !(record->second.samples_per_second > 0)) return std::nullopt;
  const double seconds = std::min(kLongestS, *left / record->second.samples_per_second);
  return *job.progress.reported_at + Duration::from_seconds(seconds);
}

bool ends_soon(const Job& job, Instant now) {
  const auto begin = ends_soon_at(job);
  return begin && now >= *begin && now < *overdue_at(job);
}

std::optional<Instant> ends_soon_at(const Job& job) {
  const auto end = expected_end(job);
  return end ? std::optional(*end - resume_cost(job)) : std::nullopt;
}

std::optional<Instant> overdue_at(const Job& job) {
  const auto end = expected_end(job);
  if (!end) return std::nullopt;
  const Instant late_at = *end + resume_cost(job);
  return std::min(late_at, job.progress.late_at.value_or(late_at));
}

}  // namespace tidepool::core
