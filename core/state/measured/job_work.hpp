// How much work a job still has and when it will be finished, as declared by its user in the job file (work.samples),
// or else by its program when it became ready. All of it follows from the state and the time.
#pragma once

#include <cstdint>
#include <optional>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Samples from now to the end, >= 0. If a program counts its length in steps, each future step is assumed to have as
// many samples as the newest one. None: unknown.
[[nodiscard]] std::optional<double> samples_left(const Job& job);

// Steps that the job file sets for a built-in trainer, which the program itself reports once it is ready; none: the
// file leaves them to the trainer, or the job has a program of its own.
[[nodiscard]] std::optional<std::int64_t> steps_in_file(const RunSpec& run);

// When the job has finished its work at the speed of its newest measurements; none if it does not step, or if its
// length is unknown. The time may be in the past.
[[nodiscard]] std::optional<Instant> expected_end(const Job& job);

// Releasing all slots would take the job longer than its remaining work: its expected end is nearer than resume_cost().
// If the job is late by that same time again, its reported length was wrong, and it counts as any other job until its
// next switch: if reports postpone the end, lateness is counted from where a report first put the end near.
[[nodiscard]] bool ends_soon(const Job& job, Instant now);
// For a job that ends soon: when that state is over, whatever the job reports.
[[nodiscard]] std::optional<Instant> ends_soon_at(const Job& job);
[[nodiscard]] std::optional<Instant> overdue_at(const Job& job);

}  // namespace tidepool::core
