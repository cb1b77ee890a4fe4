// The one table of legal changes of a job's state. Nothing else assigns Job::state.
#pragma once

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

[[nodiscard]] bool may_become(JobState from, JobState to);

// Changes the state; staying where it is changes nothing. Requires: may_become(job.state, to) or equal.
void become(Job& job, JobState to);

// The program's workers are booting, stepping or changing size.
[[nodiscard]] bool is_active(JobState state);

// The largest size of the job that is not above `most`, or its smallest one.
[[nodiscard]] int allowed_size(const Job& job, int most);

}  // namespace tidepool::core
