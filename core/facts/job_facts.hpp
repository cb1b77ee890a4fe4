// What the requests of users change in the state.
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

// Whether jobs submitted one after the other would be accepted, such as the jobs of a batch: each counts for those that
// follow. Changes nothing.
class SubmitCheck {
 public:
  // `state` outlives it.
  explicit SubmitCheck(const ClusterState& state) : state_(state) {}
  // An error says why the job would be refused.
  [[nodiscard]] Status add(const JobSpec& spec);

 private:
  const ClusterState& state_;
  TenantJobs before_;
};

// Whether a specification obeys the engine's own laws: submitting or changing a job is refused if not.
[[nodiscard]] Status check_spec(const JobSpec& spec);

// The job, or an error that names it.
[[nodiscard]] Result<const Job*> known_job(const ClusterState& state, JobId id);

}  // namespace tidepool::core
