// How long a job pauses when it changes: as measured on the job, or before any measurement a stated guess.
#pragma once

#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Expected costs of changes to `workers` workers, or with kAnySize the mean over all sizes (type_records.hpp).
// Time from the start of a worker until it is ready.
[[nodiscard]] Duration boot_time(const Job& job, int workers);
// The stall of a live change of one kind. If that kind was not measured yet: the stall of another kind, or of the first
// switch of the job's start, which does the same work (its workers connect and take their first step), and at least one
// second, which is longer than most, so that noise does not cause the first change.
[[nodiscard]] Duration change_stall(const Job& job, TransitionCost TypeRecords::* kind, int workers);
// Like change_stall(), for a job whose programs are restarted (ResizeMode::kRestart).
[[nodiscard]] Duration restart_stall(const Job& job, int workers);
// The smallest size of each class of sizes for which a change or boot was measured, ascending.
[[nodiscard]] std::vector<int> sizes_of_costs(const Job& job);

// The work that a job would have to repeat after releasing all slots. None for a job that saves its state when it is
// asked to leave. For any other job: the work since its newest saved state, at most an hour, so that no job keeps its
// slots forever because of what it does not save. A job counts as not saving if it lost steps to a preemption and did
// not save its state at a later one, if its checkpoints fail, or if it is restarted at each change and names no
// checkpoints (ResizeMode::kRestart).
[[nodiscard]] Duration work_at_risk(const Job& job);
// work_at_risk() exceeds the loss that is accepted for every job. Jobs that save often enough to stay below it are not
// preempted in place of a job that does not.
[[nodiscard]] bool loses_work(const Job& job);

// The cost of releasing all slots until the job steps again with `workers` workers and at its old progress: saving its
// state, a start, and the work at risk.
[[nodiscard]] Duration resume_cost(const Job& job, int workers);
// The same, with its present number of workers.
[[nodiscard]] inline Duration resume_cost(const Job& job) {
  return resume_cost(job, job.size());
}

// Slot-seconds that replacing one worker costs the job at this size.
[[nodiscard]] double cost_of_replacing(const Job& job, int size);

}  // namespace tidepool::core
