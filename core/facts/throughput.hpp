// What has been measured at one size: means in which the last steps weigh most and old ones fade, so
// that a size judged an hour ago is judged again rather than believed for ever.
#pragma once

#include "core/state/cluster_state.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// At most this many steps of the past weigh against new ones, or as many as took so long: a hundred steps of a few
// milliseconds are a moment, and tell what else the machine did in it.
inline constexpr std::int64_t kMemorySteps = 100;
inline constexpr Duration kMemoryTime = Duration::seconds(10);
// The past's weight halves each time this long goes by without a measurement.
inline constexpr Duration kMemoryHalfLife = Duration::seconds(600);

// Adds `counted` steps of the report (the rest was left out) to the record.
// Requires: 1 <= counted <= report.steps, report.elapsed > 0.
void add_measurement(SizeRecord& record, const StepsMeasured& report, std::int64_t counted, Instant at);

// Adds the report, which add_measurement() has been given, to what the present size gave first after the change of size
// that led to it (SizeChange). The report that paid for the change is left out.
void add_to_size_change(Job& job, const StepsMeasured& report, std::int64_t counted, Instant at);

// What a sample teaches at the present batch M, relative to the batch M0 that the job was given:
// (phi + M0) / (phi + M) with the noise scale phi (Pollux: Qiao et al., OSDI 2021). 1 while the batch is M0, less above
// it; nothing until the noise scale is known.
[[nodiscard]] std::optional<double> statistical_efficiency(const Job& job);

// The size has been measured for as long as the job's scaling block asks before it is judged (scaling.every_steps).
[[nodiscard]] bool is_measured(const SizeRecord& record, const Job& job);

// How many steps of the report count: the first step after a switch also pays for the switch.
[[nodiscard]] std::int64_t counted_steps(const StepsMeasured& report, std::int64_t switch_step);

}  // namespace tidepool::core
