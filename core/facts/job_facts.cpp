#include "core/facts/job_facts.hpp"

#include <algorithm>

#include "base/word_list.hpp"
#include "core/facts/budget_facts.hpp"
#include "core/facts/event_data.hpp"
#include "core/facts/tenant_facts.hpp"
#include "core/facts/worker_exit.hpp"
#include "core/state/budget_hold.hpp"
#include "core/state/job_state.hpp"
#include "core/state/membership.hpp"
#include "core/state/node_constraints.hpp"
#include "core/state/tenant_jobs.hpp"

namespace tidepool::core {
namespace {

Status stays(const JobSpec& spec, const char* what) {
  return conflict("job \"" + spec.name + "\" cannot change its " + what + "; submit it as a new job");
}

// Its workers were started with the other settings, and must still fit the bounds.
Status check_change(const Job& job, const JobSpec& to) {
  const JobSpec& from = job.spec;
  if (to.name != from.name || to.tenant != from.tenant) return stays(from, "name or tenant");
  if (to.gpus_per_worker != from.gpus_per_worker) return stays(from, "resources");
  if (to.batch != from.batch) return stays(from, "batch");
  if (to.resize != from.resize) return stays(from, "way of resizing (run.resize)");
  if (to.elastic.group != from.elastic.group) return stays(from, "groups of workers (elastic.group)");
  if (to.checkpoint.dir.empty() != from.checkpoint.dir.empty()) return stays(from, "checkpoint folder");
  const int size = job.size();
  const int next = job.phase.transition() ? job.phase.transition()->to_size : size;
  const auto within = [&](int workers) {
    return workers == 0 || (workers >= to.elastic.min && workers <= to.elastic.max);
  };
  if (!within(size) || !within(next)) {
    return conflict(job.id.text() + " has " + std::to_string(size) + " workers, on the way to " + std::to_string(next) +
                    "; new bounds must hold both: resize it first");
  }
  const auto& sizes = to.elastic.sizes;
  const int pinned = pinned_by_user(job);
  if (pinned != 0 && !std::binary_search(sizes.begin(), sizes.end(), pinned)) {
    return conflict(job.id.text() + " was resized to " + std::to_string(pinned) +
                    ", which the new sizes do not allow; resize it to 0 first");
  }
  return ok_status();
}

Result<const Job*> live_job(const ClusterState& state, JobId id) {
  auto job = known_job(state, id);
  if (job && is_final((*job)->state()))
    return conflict(id.text() + " has already ended (" + to_text((*job)->state()) + ")");
  return job;
}

}  // namespace

// The spec was checked when it was submitted; this protects the engine's own laws against a damaged journal.
Status check_spec(const JobSpec& spec) {
  const auto& elastic = spec.elastic;
  const bool bounds = elastic.min >= 1 && elastic.min <= elastic.preferred && elastic.preferred <= elastic.max;
  const bool sizes = !elastic.sizes.empty() && std::is_sorted(elastic.sizes.begin(), elastic.sizes.end()) &&
                     elastic.sizes.front() >= elastic.min && elastic.sizes.back() <= elastic.max;
  const bool groups =
      elastic.group == 1 ||
      (elastic.group > 1 && !asks_to_spread(spec) && elastic.min % elastic.group == 0 &&
       std::all_of(elastic.sizes.begin(), elastic.sizes.end(), [&](int size) { return size % elastic.group == 0; }));
  const bool times = elastic.cooldown >= Duration() && elastic.grace >= Duration() && elastic.min_runtime >= Duration();
  const bool batch = spec.batch.global >= 1 && spec.batch.global_max.value_or(spec.batch.global) >= spec.batch.global;
  if (bounds && sizes && groups && times && batch && spec.gpus_per_worker >= 1 && spec.memory.value_or(1) >= 1 &&
      spec.max_restarts >= 0) {
    return ok_status();
  }
  return invalid_argument(
      "the specification of job \"" + spec.name +
      "\" breaks its own bounds; sizes must be ascending, within min and max, and whole groups, which are not spread");
}

// Counts a job for which there is no room, too: a batch that is too large on its own is reported as such, however many
// jobs wait.
Status SubmitCheck::add(const JobSpec& spec) {
  TP_TRY(check_spec(spec));
  TP_TRY(check_allowed(*state_.tenants, spec));
  Status has_room = check_jobs_max(state_, before_, spec);
  add_job(before_, *state_.tenants, spec.tenant);
  return has_room;
}

Result<const Job*> known_job(const ClusterState& state, JobId id) {
  const Job* job = state.find_job(id);
  if (job != nullptr) return job;
  return state.has_ended(id) ? conflict(id.text() + " has already ended") : not_found("there is no " + id.text());
}

Status apply(StateChange& change, const JobSubmitted& fact) {
  ClusterState& state = change.state();
  if (fact.job.number() != state.next_job) {
    return conflict("the next job is " + JobId(state.next_job).text() + ", not " + fact.job.text());
  }
  TP_TRY(SubmitCheck(state).add(fact.spec));
  auto created = std::make_shared<Job>();
  created->id = fact.job;
  created->spec = fact.spec;
  created->submitted_at = change.at();
  created->account.charged_until = change.at();
  state.jobs.emplace(fact.job, std::move(created));
  add_job(state.tenant_jobs, *state.tenants, fact.spec.tenant);
  ++state.next_job;
  Job& job = change.job(fact.job);
  hold_if_spent(change, job);
  change.capacity_changed();
  change.emit("job.submitted", job, submitted_data(job.spec));
  return ok_status();
}

Status apply(StateChange& change, const JobCancelRequested& fact) {
  const auto job = live_job(change.state(), fact.job);
  if (!job) return job.error();
  if (!(*job)->requests.cancel) change.job(fact.job).requests.cancel = true;
  return ok_status();
}

Status apply(StateChange& change, const JobResizeRequested& fact) {
  const auto job = live_job(change.state(), fact.job);
  if (!job) return job.error();
  const auto& sizes = (*job)->spec.elastic.sizes;
  if (fact.size != 0 && !std::binary_search(sizes.begin(), sizes.end(), fact.size)) {
    return invalid_argument(fact.job.text() + " cannot have " + std::to_string(fact.size) + " workers; its sizes are " +
                            number_list(sizes) + ", or 0 to leave the size to the policy");
  }
  if (pinned_by_user(**job) == fact.size) return ok_status();
  if (is_shrunk(**job) && fact.size != 0) {
    return conflict("tenant " + (*job)->hold->tenant + " has spent its budget: " + fact.job.text() +
                    " keeps its smallest size until that is renewed or raised");
  }
  TP_TRY(check_pin(change.state(), **job, fact.size));
  Job& changed = change.job(fact.job);
  const bool rests = changed.hold && changed.hold->action == BudgetAction::kShrink;
  (rests ? changed.hold->pinned_size : changed.requests.pinned_size) = fact.size;
  if (changed.state() == JobState::kPending) change.capacity_changed();
  change.emit("job.resize_requested", changed, {{"size", fact.size}});
  return ok_status();
}

Status apply(StateChange& change, const JobSuspendRequested& fact) {
  const auto job = live_job(change.state(), fact.job);
  if (!job) return job.error();
  if ((*job)->requests.suspend) return ok_status();
  Job& changed = change.job(fact.job);
  changed.requests.suspend = true;
  if (changed.state() == JobState::kPending) {
    changed.recovery.waits_near_since.reset();
    become(changed, phase::Suspended{});
    change.capacity_changed();
    change.emit("job.suspended", changed, suspended_data(changed));
  }
  return ok_status();
}

Status apply(StateChange& change, const JobResumeRequested& fact) {
  const auto job = live_job(change.state(), fact.job);
  if (!job) return job.error();
  if (!(*job)->requests.suspend) {
    return conflict(fact.job.text() + " is " + to_text((*job)->state()) + "; only a suspended job can be resumed");
  }
  Job& changed = change.job(fact.job);
  changed.requests.suspend = false;
  if (changed.state() == JobState::kSuspended) {
    become(changed, phase::Pending{});
    changed.preemption.pending_since = change.at();
    change.capacity_changed();
    change.emit("job.resume_requested", changed, nlohmann::json::object());
  }
  return ok_status();
}

Status apply(StateChange& change, const JobCheckpointRequested& fact) {
  const auto job = live_job(change.state(), fact.job);
  if (!job) return job.error();
  if ((*job)->spec.resize == ResizeMode::kRestart) {
    return conflict(fact.job.text() +
                    " is restarted to change its size (run.resize); its program takes its checkpoints");
  }
  if ((*job)->membership.stepping_generation == 0 || (*job)->membership.members.empty()) {
    return conflict(fact.job.text() + " is " + to_text((*job)->state()) +
                    " and does not step; a checkpoint can be taken of a job that runs");
  }
  if (!(*job)->requests.checkpoint) change.job(fact.job).requests.checkpoint = true;
  return ok_status();
}

Status apply(StateChange& change, const JobChanged& fact) {
  const auto job = live_job(change.state(), fact.job);
  if (!job) return job.error();
  TP_TRY(check_spec(fact.spec));
  TP_TRY(check_change(**job, fact.spec));
  TP_TRY(check_allowed(*change.state().tenants, fact.spec));
  Job& changed = change.job(fact.job);
  changed.spec = fact.spec;
  change.capacity_changed();  // its place in the queue may have changed
  change.emit("job.changed", changed, changed_data(changed.spec));
  return ok_status();
}

}  // namespace tidepool::core
