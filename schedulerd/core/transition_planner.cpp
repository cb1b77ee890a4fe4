#include "schedulerd/core/transition_planner.hpp"

#include <algorithm>

#include "schedulerd/core/job_state.hpp"
#include "schedulerd/core/membership.hpp"
#include "schedulerd/core/straggler_patience.hpp"

namespace tidepool::core {
namespace {

struct Ending {
  JobEnd end;
  Reason reason;
};

std::optional<Ending> ending_of(const Job& job, Instant now) {
  if (job.finished_training) {
    return Ending{JobEnd::kSucceeded, {ReasonCode::kFinished, {{"steps", static_cast<double>(job.last_step)}}}};
  }
  if (job.cancel_requested) return Ending{JobEnd::kCancelled, {ReasonCode::kCancelledByUser, {}}};
  if (job.misconfigured || job.restarts > job.spec.max_restarts) {
    return Ending{
        JobEnd::kFailed,
        {ReasonCode::kWorkersFailed,
         {{"restarts", static_cast<double>(job.restarts)}, {"limit", static_cast<double>(job.spec.max_restarts)}}}};
  }
  const auto& limit = job.spec.max_duration;
  if (limit && job.started_at && now >= *job.started_at + *limit) {
    return Ending{JobEnd::kFailed, {ReasonCode::kMaxDuration, {{"limit_s", limit->to_seconds()}}}};
  }
  return std::nullopt;
}

// Live workers that no stop has been sent to yet.
void stop_all(DecisionDraft& draft, const Job& job, const Reason& reason) {
  for (const WorkerId id : job.workers) {
    if (!is_live(draft.state(), id) || draft.state().find_worker(id)->kill_at) continue;
    draft.carry_out(StopWorkerIntent{job.id, id, job.spec.elastic.grace}, reason);
  }
}

// Workers that should have left by now, or that came back after the job went on without them.
void stop_left_behind(DecisionDraft& draft, const Job& job) {
  for (const WorkerId id : job.workers) {
    const Worker& worker = *draft.state().find_worker(id);
    const bool waits_for_switch = job.transition && job.transition->committed && contains(job.transition->leavers, id);
    if (worker.phase != WorkerPhase::kLeaving || worker.node_lost || worker.kill_at) continue;
    if (worker.stop_due ? draft.now() < *worker.stop_due : waits_for_switch) continue;
    draft.carry_out(StopWorkerIntent{job.id, id, Duration()}, {ReasonCode::kLeftBehind, {{"worker", as_number(id)}}});
  }
}

void end_job(DecisionDraft& draft, const Job& job, const Ending& ending) {
  if (!has_live_workers(draft.state(), job)) {
    draft.conclude(job, EndJobIntent{job.id, ending.end}, ending.reason);
  } else if (ending.end == JobEnd::kSucceeded) {
    stop_left_behind(draft, job);
  } else {
    stop_all(draft, job, ending.reason);
  }
}

void park(DecisionDraft& draft, const Job& job, const Reason& reason) {
  draft.conclude(job, PreemptIntent{job.id}, reason);
  stop_all(draft, job, reason);
}

// A newcomer that is not ready by its deadline is stopped; its exit then counts as a loss.
void stop_late_newcomers(DecisionDraft& draft, const Job& job) {
  if (!job.transition || job.transition->committed) return;
  const Duration timeout = draft.parts().config.start_timeout;
  for (const WorkerId id : job.transition->newcomers) {
    const Worker& worker = *draft.state().find_worker(id);
    const bool late = worker.phase == WorkerPhase::kStarting && draft.now() >= worker.started_at + timeout;
    if (!late || worker.kill_at) continue;
    draft.carry_out(StopWorkerIntent{job.id, id, Duration()},
                    {ReasonCode::kStartTimeout, {{"worker", as_number(id)}, {"seconds", timeout.to_seconds()}}});
  }
}

void switch_to_survivors(DecisionDraft& draft, const Job& job, std::vector<WorkerId> alive) {
  WorkerId dead;
  for (const WorkerId id : job.members) {
    if (!contains(alive, id)) dead = id;
  }
  const Reason reason{ReasonCode::kWorkerLost,
                      {{"worker", as_number(dead)}, {"survivors", static_cast<double>(alive.size())}}};
  draft.conclude(job, SwitchIntent{job.id, job.generation + 1, std::move(alive), true}, reason);
}

Reason below_minimum(const Job& job, std::size_t alive) {
  return {ReasonCode::kBelowMinimum,
          {{"survivors", static_cast<double>(alive)}, {"min", static_cast<double>(job.spec.elastic.min)}}};
}

// The planned change of membership goes through once every newcomer is ready.
void switch_if_ready(DecisionDraft& draft, const Job& job) {
  const Transition& transition = *job.transition;
  if (transition.newcomers.empty() && transition.leavers.empty()) return;
  for (const WorkerId id : transition.newcomers) {
    const Worker& worker = *draft.state().find_worker(id);
    if (worker.phase != WorkerPhase::kReady || worker.kill_at) return;
  }
  std::vector<WorkerId> members;
  for (const WorkerId id : job.members) {
    if (!contains(transition.leavers, id)) members.push_back(id);
  }
  std::vector<WorkerId> newcomers = transition.newcomers;
  std::sort(newcomers.begin(), newcomers.end());
  members.insert(members.end(), newcomers.begin(), newcomers.end());
  draft.carry_out(SwitchIntent{job.id, job.generation + 1, std::move(members), false}, transition.reason);
}

// The reason to give up what is left, if fewer workers live (or come up) than the job can run with.
std::optional<Reason> too_few_left(const DecisionDraft& draft, const Job& job) {
  std::size_t alive = survivors(draft.state(), job).size();
  if (job.members.empty() && job.transition) alive = job.transition->newcomers.size();
  if (alive == job.members.size() && !job.members.empty()) return std::nullopt;
  if (alive >= static_cast<std::size_t>(job.spec.elastic.min)) return std::nullopt;
  return below_minimum(job, alive);
}

void plan_membership(DecisionDraft& draft, const Job& job) {
  std::vector<WorkerId> alive = survivors(draft.state(), job);
  if (alive.size() < job.members.size()) return switch_to_survivors(draft, job, std::move(alive));
  const bool settled = job.members.empty() || job.switched;
  if (job.transition && !job.transition->committed && settled) switch_if_ready(draft, job);
}

}  // namespace

void plan_transitions(DecisionDraft& draft, const Job& job) {
  if (is_final(job.state)) return stop_left_behind(draft, job);
  if (const auto ending = ending_of(job, draft.now())) return end_job(draft, job, *ending);
  const Reason suspended{ReasonCode::kSuspendedByUser, {}};
  if (job.state == JobState::kSuspending) return stop_all(draft, job, job.verdict.reason);
  if (!is_active(job.state)) {
    stop_left_behind(draft, job);
    if (job.state == JobState::kSuspended) draft.find(job, suspended);
    return;
  }
  if (job.suspend_requested) return park(draft, job, suspended);
  if (const auto reason = too_few_left(draft, job)) return park(draft, job, *reason);
  stop_left_behind(draft, job);
  stop_late_newcomers(draft, job);
  plan_membership(draft, job);
}

bool is_ending(const Job& job, Instant now) {
  return ending_of(job, now).has_value();
}

std::optional<Instant> next_due(const ClusterState& state, const Job& job, const EngineConfig& config, Instant after) {
  std::optional<Instant> first;
  const auto consider = [&](Instant when) {
    if (when > after && (!first || when < *first)) first = when;
  };
  for (const WorkerId id : job.workers) {
    const Worker& worker = *state.find_worker(id);
    if (worker.node_lost || worker.kill_at) continue;
    if (worker.stop_due) consider(*worker.stop_due);
    if (worker.phase == WorkerPhase::kStarting) consider(worker.started_at + config.start_timeout);
  }
  if (is_final(job.state)) return first;
  if (job.spec.max_duration && job.started_at) consider(*job.started_at + *job.spec.max_duration);
  if (!is_active(job.state)) return first;
  if (job.last_resize_at && !job.cooldown_waived) consider(*job.last_resize_at + job.spec.elastic.cooldown);
  if (job.last_start_at) consider(*job.last_start_at + job.spec.elastic.min_runtime);
  if (const auto next = next_replacement(job)) consider(*next);
  return first;
}

}  // namespace tidepool::core
