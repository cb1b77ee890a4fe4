#include "core/state/measured/change_costs.hpp"

#include <algorithm>

#include "core/state/measured/type_records.hpp"

namespace tidepool::core {
namespace {

constexpr double kUnknownStallMs = 1'000;
constexpr double kUnknownRestartMs = 30'000;
constexpr double kUnknownBootMs = 10'000;
constexpr Duration kAtRiskMost = Duration::seconds(3'600);
constexpr Duration kFresh = Duration::seconds(600);  // since the newest saved state

Duration of_ms(double ms) {
  return Duration::micros(static_cast<std::int64_t>(ms * 1000));
}

// Its program keeps its own checkpoints, if the job names any: the engine does not hear of them.
bool keeps_nothing(const Job& job) {
  return job.spec.resize == ResizeMode::kRestart && !job.spec.checkpoint.every && job.spec.checkpoint.dir.empty();
}

bool may_save_too_late(const Job& job) {
  const Duration lost = job.account.overheads[Overhead::kLostToPreemption].slot_time;
  const bool has_lost = lost > job.account.saved.lost_at_leave;
  return job.spec.resize == ResizeMode::kLive && (has_lost || job.recovery.checkpoint_failure);
}

}  // namespace

Duration boot_time(const Job& job, int workers) {
  const BootCost& cost = boot_cost_of(job.measurements);
  return of_ms(cost.count > 0 ? cost_at(cost, workers) : kUnknownBootMs);
}

Duration change_stall(const Job& job, TransitionCost TypeRecords::* kind, int workers) {
  const TransitionCost* best = &cost_of(job.measurements, kind);
  if (best->count == 0) {
    for (const auto other : {&TypeRecords::grow_cost, &TypeRecords::shrink_cost, &TypeRecords::replace_cost}) {
      const TransitionCost& cost = cost_of(job.measurements, other);
      if (cost.count > best->count) best = &cost;
    }
  }
  if (best->count > 0) return of_ms(cost_at(*best, workers));
  return of_ms(std::max(kUnknownStallMs, cost_at(cost_of(job.measurements, &TypeRecords::start_cost), workers)));
}

Duration restart_stall(const Job& job, int workers) {
  const TransitionCost& cost = cost_of(job.measurements, &TypeRecords::restart_cost);
  return of_ms(cost.count > 0 ? cost_at(cost, workers) : kUnknownRestartMs);
}

std::vector<int> sizes_of_costs(const Job& job) {
  std::vector<int> sizes;
  const auto add = [&](const auto& cost) {
    for (const auto& [size, mean] : cost.by_size) sizes.push_back(size);
  };
  for (const auto kind : {&TypeRecords::grow_cost, &TypeRecords::shrink_cost, &TypeRecords::replace_cost,
                          &TypeRecords::start_cost, &TypeRecords::restart_cost}) {
    add(cost_of(job.measurements, kind));
  }
  add(boot_cost_of(job.measurements));
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

Duration work_at_risk(const Job& job) {
  if (keeps_nothing(job)) {
    const Instant since = job.membership.commit.at;  // since when its programs run
    const Instant told = job.progress.reported_at.value_or(since);
    return std::clamp(told - since, Duration(), kAtRiskMost);
  }
  const auto record = job.measurements.sizes.find(job.size());
  if (!may_save_too_late(job) || record == job.measurements.sizes.end()) return {};
  const std::int64_t steps = std::max<std::int64_t>(0, job.progress.step - job.account.saved.step);
  const double seconds = static_cast<double>(steps) * record->second.step_seconds;
  return Duration::from_seconds(std::clamp(seconds, 0.0, kAtRiskMost.to_seconds()));
}

bool loses_work(const Job& job) {
  return keeps_nothing(job) || work_at_risk(job) > kFresh;
}

Duration resume_cost(const Job& job, int workers) {
  const Duration at_risk = work_at_risk(job);
  const Duration boot = boot_time(job, workers);
  if (job.spec.resize == ResizeMode::kRestart) return std::max(boot, restart_stall(job, workers)) + at_risk;
  // It parks at its present size, which no shrink led to.
  return boot + change_stall(job, &TypeRecords::shrink_cost, kAnySize) + at_risk;
}

double cost_of_replacing(const Job& job, int size) {
  const double pause_s = change_stall(job, &TypeRecords::replace_cost, size).to_seconds();
  return job.spec.gpus_per_worker * (cost_at(boot_cost_of(job.measurements), size) * 1e-3 + size * pause_s);
}

}  // namespace tidepool::core
