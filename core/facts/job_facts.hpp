// What users' requests do to the state.
#pragma once

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

[[nodiscard]] Status apply(StateChange& change, const JobSubmitted& fact);
[[nodiscard]] Status apply(StateChange& change, const JobCancelRequested& fact);
[[nodiscard]] Status apply(StateChange& change, const JobResizeRequested& fact);
[[nodiscard]] Status apply(StateChange& change, const JobSuspendRequested& fact);
[[nodiscard]] Status apply(StateChange& change, const JobResumeRequested& fact);
[[nodiscard]] Status apply(StateChange& change, const JobCheckpointRequested& fact);
[[nodiscard]] Status apply(StateChange& change, const JobChanged& fact);

// Whether a specification keeps the engine's own laws: what submitting or changing a job refuses.
[[nodiscard]] Status check_spec(const JobSpec& spec);

// The job, or an error that names it.
[[nodiscard]] Result<const Job*> known_job(const ClusterState& state, JobId id);

}  // namespace tidepool::core
