#include "core/state/change_costs.hpp"

#include <algorithm>

#include "core/state/type_records.hpp"

namespace tidepool::core {
namespace {

constexpr double kUnknownStallMs = 1'000;
constexpr double kUnknownRestartMs = 30'000;
constexpr double kUnknownBootMs = 10'000;

Duration of_ms(double ms) {
  return Duration::micros(static_cast<std::int64_t>(ms * 1000));
}

}  // namespace

Duration boot_time(const Job& job) {
  const BootCost& cost = boot_cost_of(job.measurements);
  return of_ms(cost.count > 0 ? cost.mean_ms : kUnknownBootMs);
}

Duration change_stall(const Job& job, TransitionCost TypeRecords::* kind) {
  const TransitionCost* best = &cost_of(job.measurements, kind);
  if (best->count == 0) {
    for (const auto other : {&TypeRecords::grow_cost, &TypeRecords::shrink_cost, &TypeRecords::replace_cost}) {
      const TransitionCost& cost = cost_of(job.measurements, other);
      if (cost.count > best->count) best = &cost;
    }
  }
  if (best->count > 0) return of_ms(best->mean_stall_ms);
  return of_ms(std::max(kUnknownStallMs, cost_of(job.measurements, &TypeRecords::start_cost).mean_stall_ms));
}

Duration restart_stall(const Job& job) {
  const TransitionCost& cost = cost_of(job.measurements, &TypeRecords::restart_cost);
  return of_ms(cost.count > 0 ? cost.mean_stall_ms : kUnknownRestartMs);
}

Duration resume_cost(const Job& job) {
  if (job.spec.resize == ResizeMode::kRestart) return std::max(boot_time(job), restart_stall(job));
  return boot_time(job) + change_stall(job, &TypeRecords::shrink_cost);
}

double cost_of_replacing(const Job& job, int size) {
  const double pause_s = change_stall(job, &TypeRecords::replace_cost).to_seconds();
  return job.spec.gpus_per_worker * (boot_cost_of(job.measurements).mean_ms * 1e-3 + size * pause_s);
}

}  // namespace tidepool::core
