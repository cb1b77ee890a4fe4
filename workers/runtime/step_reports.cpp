#include "workers/runtime/step_reports.hpp"

#include <algorithm>
#include <utility>

namespace tidepool::runtime {

void StepReports::restart(TimePoint now) {
  gathered_ = {};
  loss_sum_ = 0;
  since_ = now;
}

std::optional<api::StepsMessage> StepReports::add(const StepRecord& record, TimePoint now) {
  gathered_.generation = record.generation;
  gathered_.last_step = record.steps_committed;
  gathered_.epoch = record.epoch;
  gathered_.global_batch = static_cast<std::int64_t>(record.global_batch);
  gathered_.noise_scale = record.noise_scale;
  gathered_.shares = record.shares;
  gathered_.samples_total = static_cast<std::int64_t>(record.samples_total);
  gathered_.samples += static_cast<std::int64_t>(record.samples);
  gathered_.compute_us.insert(gathered_.compute_us.end(), record.compute_us.begin(), record.compute_us.end());
  loss_sum_ += record.loss_sum;
  ++gathered_.steps;
  const bool first_of_all = record.steps_committed == 1;  // its loss is the training's initial loss
  const bool is_full = gathered_.steps >= kStepsMax || gathered_.compute_us.size() >= kTimesMax;
  if (!first_of_all && !is_full && now - since_ < kIntervalMax) return std::nullopt;
  return take(now);
}

std::optional<api::StepsMessage> StepReports::take(TimePoint now) {
  if (gathered_.steps == 0) return std::nullopt;
  gathered_.elapsed_us = std::max<std::int64_t>(1, micros_between(since_, now));  // the reader divides by it
  gathered_.loss = loss_sum_ / static_cast<double>(gathered_.samples);
  api::StepsMessage message = std::move(gathered_);
  restart(now);
  return message;
}

}  // namespace tidepool::runtime
