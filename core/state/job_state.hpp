// The one table of legal changes of a job's state. Nothing else assigns Job::phase.
#pragma once

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

[[nodiscard]] bool may_become(JobState from, JobState to);

// Requires: may_become(job.state(), to.state()), or they are equal: then only what the phase carries changes.
void become(Job& job, JobPhase to);
// The change of membership under way ends, done or not: a job that resizes goes on running. Nothing if there is none.
void drop_transition(Job& job);

// The program's workers are booting, stepping or changing size.
[[nodiscard]] bool is_active(JobState state);

// It runs with the members of its newest generation, and no change of these is under way.
[[nodiscard]] bool runs_unchanged(const Job& job);

// After the end of training its programs may go on for so long, to save what came of it: their grace, and ten minutes
// at least.
[[nodiscard]] Duration time_to_finish(const Job& job);

// The largest size of the job that is not above `most`, or its smallest one, which is all that a spent budget may
// leave.
[[nodiscard]] int allowed_size(const Job& job, int most);

}  // namespace tidepool::core
