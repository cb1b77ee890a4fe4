// How long a job stands still when it changes: what has been measured on it, or before that a stated guess.
#pragma once

#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Of changes to so many workers, or with kAnySize in the mean of all sizes (type_records.hpp).
// From the start of a worker until it is ready.
[[nodiscard]] Duration boot_time(const Job& job, int workers);
// By a live change of one kind; not measured yet, as long as by those of another kind, or as the first switch of its
// start took, which does the same (its workers find each other and take their first step), and at least for a second,
// which is longer than most, so that noise does not cause the first change.
[[nodiscard]] Duration change_stall(const Job& job, TransitionCost TypeRecords::* kind, int workers);
// Likewise, of a job whose programs are started anew (ResizeMode::kRestart).
[[nodiscard]] Duration restart_stall(const Job& job, int workers);
// Of each class of sizes at which some change or boot was measured, the smallest size, ascending.
[[nodiscard]] std::vector<int> sizes_of_costs(const Job& job);

// What giving up all slots would make the job do again: nothing of a job that saves its state when it is told to leave;
// else what it has done since its newest saved state, at most an hour, so that none is kept for ever by what it does
// not save. Such a job has lost steps to a preemption and not saved its state at a later one, takes checkpoints that
// fail, or is started anew at each change and names no checkpoints (ResizeMode::kRestart).
[[nodiscard]] Duration work_at_risk(const Job& job);
// It is more than what every job may lose alike, so that one that saves more often than that is not preempted in the
// place of one that does not.
[[nodiscard]] bool loses_work(const Job& job);

// What giving up all slots costs until the job steps again with so many workers and where it was: keeping its state, a
// start, and the work at risk.
[[nodiscard]] Duration resume_cost(const Job& job, int workers);
// Likewise, with as many as it has.
[[nodiscard]] inline Duration resume_cost(const Job& job) {
  return resume_cost(job, job.size());
}

// Slot-seconds that replacing a worker takes from the job when it has so many.
[[nodiscard]] double cost_of_replacing(const Job& job, int size);

}  // namespace tidepool::core
