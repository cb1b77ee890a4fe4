// What was measured at one size: means in which the latest steps have the most weight and old ones fade, so that a size
// judged an hour ago is judged again instead of being trusted forever.
#pragma once

#include "core/state/cluster_state.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// The past has at most the weight of kMemorySteps, or of the steps in kMemoryTime if those are more: a hundred steps of
// a few milliseconds are a moment, and mostly reflect other activity of the machine.
inline constexpr std::int64_t kMemorySteps = 100;
inline constexpr Duration kMemoryTime = Duration::seconds(10);
// The past's weight halves after each such period without a measurement.
inline constexpr Duration kMemoryHalfLife = Duration::seconds(600);

// Adds `counted` steps of the report (the rest was excluded) to the record.
// Requires: 1 <= counted <= report.steps, report.elapsed > 0.
void add_measurement(SizeRecord& record, const StepsMeasured& report, std::int64_t counted, Instant at);

// Adds the report, which add_measurement() has processed, to the first measurements at the present size after the
// change of size that led to it (SizeChange). The report that includes the cost of the change is excluded.
void add_to_size_change(Job& job, const StepsMeasured& report, std::int64_t counted, Instant at);

// The progress per sample at the present batch M, relative to the job's original batch M0: (phi + M0) / (phi + M) with
// the noise scale phi (Pollux: Qiao et al., OSDI 2021). 1 while the batch is M0, less above it; nothing until the noise
// scale is known.
[[nodiscard]] std::optional<double> statistical_efficiency(const Job& job);

// The size was measured for as long as the job's scaling block requires before it is judged (scaling.every_steps).
[[nodiscard]] bool is_measured(const SizeRecord& record, const Job& job);

// How many steps of the report count: the first step after a switch includes the cost of the switch.
[[nodiscard]] std::int64_t counted_steps(const StepsMeasured& report, std::int64_t switch_step);

}  // namespace tidepool::core
