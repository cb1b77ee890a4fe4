#include "schedulerd/core/job_facts.hpp"

#include <algorithm>

#include "schedulerd/core/event_data.hpp"
#include "schedulerd/core/job_state.hpp"
#include "schedulerd/core/membership.hpp"
#include "schedulerd/core/worker_exit.hpp"

namespace tidepool::core {
namespace {

// The spec has been checked at the border; this guards the engine's own laws against a damaged journal.
Status check_spec(const JobSpec& spec) {
  const auto& elastic = spec.elastic;
  const bool bounds = elastic.min >= 1 && elastic.min <= elastic.preferred && elastic.preferred <= elastic.max;
  const bool sizes = !elastic.sizes.empty() && std::is_sorted(elastic.sizes.begin(), elastic.sizes.end()) &&
                     elastic.sizes.front() >= elastic.min && elastic.sizes.back() <= elastic.max;
  const bool times = elastic.cooldown >= Duration() && elastic.grace >= Duration() && elastic.min_runtime >= Duration();
  if (bounds && sizes && times && spec.gpus_per_worker >= 1 && spec.batch.global >= 1 && spec.max_restarts >= 0) {
    return ok_status();
  }
  return invalid_argument("the specification of job \"" + spec.name +
                          "\" breaks its own bounds; sizes must be ascending and within min and max");
}

Result<const Job*> live_job(const ClusterState& state, JobId id) {
  auto job = known_job(state, id);
  if (job && is_final((*job)->state)) return conflict(id.text() + " has already " + to_text((*job)->state));
  return job;
}

}  // namespace

Result<const Job*> known_job(const ClusterState& state, JobId id) {
  const Job* job = state.find_job(id);
  if (job == nullptr) return not_found("there is no " + id.text());
  return job;
}

Status apply(StateChange& change, const JobSubmitted& fact) {
  ClusterState& state = change.state();
  if (fact.job.number() != state.next_job) {
    return conflict("the next job is " + JobId(state.next_job).text() + ", not " + fact.job.text());
  }
  TP_TRY(check_spec(fact.spec));
  auto created = std::make_shared<Job>();
  created->id = fact.job;
  created->spec = fact.spec;
  created->submitted_at = change.at();
  created->charged_until = change.at();
  state.jobs.emplace(fact.job, std::move(created));
  ++state.next_job;
  const Job& job = change.job(fact.job);
  change.capacity_changed();
  change.emit("job.submitted", job, submitted_data(job.spec));
  return ok_status();
}

Status apply(StateChange& change, const JobCancelRequested& fact) {
  const auto job = live_job(change.state(), fact.job);
  if (!job) return job.error();
  if (!(*job)->cancel_requested) change.job(fact.job).cancel_requested = true;
  return ok_status();
}

Status apply(StateChange& change, const JobResizeRequested& fact) {
  const auto job = live_job(change.state(), fact.job);
  if (!job) return job.error();
  const auto& sizes = (*job)->spec.elastic.sizes;
  if (fact.size != 0 && !std::binary_search(sizes.begin(), sizes.end(), fact.size)) {
    std::string allowed;
    for (const int size : sizes) allowed += (allowed.empty() ? "" : ", ") + std::to_string(size);
    return invalid_argument(fact.job.text() + " cannot have " + std::to_string(fact.size) + " workers; its sizes are " +
                            allowed + ", or 0 to leave the size to the policy");
  }
  if ((*job)->pinned_size == fact.size) return ok_status();
  Job& changed = change.job(fact.job);
  changed.pinned_size = fact.size;
  if (changed.state == JobState::kPending) change.capacity_changed();
  change.emit("job.resize_requested", changed, {{"size", fact.size}});
  return ok_status();
}

Status apply(StateChange& change, const JobSuspendRequested& fact) {
  const auto job = live_job(change.state(), fact.job);
  if (!job) return job.error();
  if ((*job)->suspend_requested) return ok_status();
  Job& changed = change.job(fact.job);
  changed.suspend_requested = true;
  if (changed.state == JobState::kPending) {
    become(changed, JobState::kSuspended);
    change.capacity_changed();
    change.emit("job.suspended", changed, {{"size", 0}});
  }
  return ok_status();
}

Status apply(StateChange& change, const JobResumeRequested& fact) {
  const auto job = live_job(change.state(), fact.job);
  if (!job) return job.error();
  if (!(*job)->suspend_requested) {
    return conflict(fact.job.text() + " is " + to_text((*job)->state) + "; only a suspended job can be resumed");
  }
  Job& changed = change.job(fact.job);
  changed.suspend_requested = false;
  if (changed.state == JobState::kSuspended) {
    become(changed, JobState::kPending);
    change.capacity_changed();
    change.emit("job.resumed", changed, {{"size", 0}});
  }
  return ok_status();
}

}  // namespace tidepool::core
