// The one table of legal changes of a job's state. Nothing else assigns Job::phase.
#pragma once

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

[[nodiscard]] bool may_become(JobState from, JobState to);

// Requires: may_become(job.state(), to.state()), or both are equal: then only the data of the phase changes.
void become(Job& job, JobPhase to);
// The change of membership in progress ends, completed or not: a job that resizes continues to run. Does nothing if
// there is none.
void drop_transition(Job& job);

// The program's workers are booting, stepping or changing size.
[[nodiscard]] bool is_active(JobState state);

// The job runs with the members of its newest generation, and no change of its members is in progress.
[[nodiscard]] bool runs_unchanged(const Job& job);

// How long its programs may continue after the end of training, to save the result: their grace, and at least ten
// minutes.
[[nodiscard]] Duration time_to_finish(const Job& job);

// The largest size of the job that is not above `most`, or its smallest size, which is the most that a spent budget may
// leave.
[[nodiscard]] int allowed_size(const Job& job, int most);

}  // namespace tidepool::core
