// How much a job still has to do and when it will have done it, as declared: by its user in the job file
// (work.samples), else by its program when it was ready. All of it follows from the state and the time.
#pragma once

#include <cstdint>
#include <optional>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Samples from now to the end, >= 0. Where a program counts its length in steps, those to come are taken to have as
// many samples as the newest one. None: it is not known.
[[nodiscard]] std::optional<double> samples_left(const Job& job);

// Steps that its file tells a built-in trainer to do, of which the program itself tells once it is ready; none: it
// leaves that to the trainer, or has a program of its own.
[[nodiscard]] std::optional<std::int64_t> steps_in_file(const RunSpec& run);

// When the job has done its work at the speed of its newest measurements; none if it does not step, or how much there
// is to do is not known. It may lie in the past.
[[nodiscard]] std::optional<Instant> expected_end(const Job& job);

// Giving up all slots would keep the job longer than its work does: its expected end is nearer than resume_cost(). A
// job that is late by as much again has been told a wrong length, and counts as any other until its next switch: an end
// that reports put off is counted from where a report first put it near.
[[nodiscard]] bool ends_soon(const Job& job, Instant now);
// Of a job that ends soon: when that is over whatever it reports.
[[nodiscard]] std::optional<Instant> ends_soon_at(const Job& job);
[[nodiscard]] std::optional<Instant> overdue_at(const Job& job);

}  // namespace tidepool::core
