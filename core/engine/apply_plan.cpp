#include "core/engine/apply_plan.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/id_set.hpp"
#include "base/overloaded.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/facts/event_data.hpp"
#include "core/facts/nodes/notice_facts.hpp"
#include "core/facts/pool_facts.hpp"
#include "core/facts/shares.hpp"
#include "core/facts/state_moves.hpp"
#include "core/facts/worker_exit.hpp"
#include "core/place/slot_claims.hpp"
#include "core/state/job_state.hpp"
#include "core/state/measured/straggler_patience.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/membership.hpp"
#include "core/state/state_move.hpp"
#include "core/state/tenant_jobs.hpp"
#include "core/tenants/preemption_limits.hpp"

namespace tidepool::core {
namespace {

// The reason of a job's intent replaces its verdict; what its policy weighed follows with the decision's own verdict on
// the job, if that is new.
void conclude(Job& job, const Reason& reason, WorkerId straggler = {}) {
  job.verdict.job = job.id;
  job.verdict.reason = reason;
  job.verdict.blocked = {.straggler = straggler};
  job.shares.awaited = false;
}

std::vector<WorkerId> place(StateChange& change, JobId job, const std::vector<WorkerPlacement>& placements, int size) {
  std::vector<WorkerId> ids;
  for (const auto& placement : placements) {
    change.add_worker(job, placement);
    ids.push_back(placement.worker);
    change.emit("worker.started", change.job(job), placement.node,
                {{"worker", placement.worker.text()}, {"size", size}});
  }
  return ids;
}

// A plan knows the records of every type: that other ones are read from now on is no reason for a new one.
void measure_on(Job& job, const std::string& slot_type, Instant now) {
  const std::string before = job.measurements.slot_type;
  measure_on(job.measurements, job.spec.mixed_types ? kMixedTypes : slot_type);
  const bool is_other = job.planned && job.measurements.slot_type != before;
  if (is_other) job.planned->inputs.step_seconds = inputs_of(job, now).step_seconds;
}

// Once for as long as the worker stays slow.
void tell_straggler(StateChange& change, const Job& job, WorkerId id, const Reason& reason) {
  Worker& worker = change.worker(id);
  StragglerTrack& track = worker.track;
  if (track.told || job.shares.rebalanced.contains(id)) return;
  track.told = true;
  change.emit("worker.straggling", job, worker.node, straggling_data(reason, track.detector));
}

// The slow worker that is replaced or removed; none: the workers leave for another reason.
void begin_replacement(StateChange& change, Job& job, WorkerId straggler, const Reason& reason) {
  if (!straggler) return;
  count_replacement(job, change.at());
  tell_straggler(change, job, straggler, reason);
}

void take_place_of(StateChange& change, WorkerId straggler, WorkerId successor) {
  if (!straggler) return;
  Worker& joining = change.worker(successor);
  joining.replaced = straggler;
  joining.replaced_on = change.worker(straggler).node;
}

// It releases slots for these. Earlier entries stay for jobs that have not received their slots yet.
void note_claimants(StateChange& change, Job& job, const std::vector<JobId>& for_jobs) {
  std::erase_if(job.preemption.released_slots, [&](const ReleasedSlots& slots) {
    const Job* claimant = change.state().find_job(slots.for_job);
    const bool again = std::find(for_jobs.begin(), for_jobs.end(), slots.for_job) != for_jobs.end();
    return again || claimant == nullptr || !still_lacks(*claimant, slots);
  });
  for (const JobId id : for_jobs) job.preemption.released_slots.push_back({.for_job = id, .at = change.at()});
}

void begin_resize(StateChange& change, Job& job, Transition transition) {
  transition.since = change.at();
  transition.from_size = job.size();
  transition.to_size = job.size() + static_cast<int>(transition.joining_workers.size()) -
                       static_cast<int>(transition.leaving_workers.size());
  become(job, phase::Resizing{std::move(transition)});
  change.emit("job.resizing", job, resizing_data(*job.phase.transition()));
}

void apply(StateChange& change, const StartIntent& intent, const Reason& reason) {
  Job& job = change.job(intent.job);
  conclude(job, reason);
  const int size = static_cast<int>(intent.joining_workers.size());
  job.last_start_at = change.at();
  job.recovery.cooldown_waived = false;
  job.preemption.room_made = false;
  job.preemption.asked.reset();
  job.membership.parking = false;
  job.membership.on_lost_nodes.clear();
  job.recovery.waits_near_since.reset();
  job.membership.stepping_generation = 0;
  job.membership.stepping_size = 0;
  job.progress.audited_epoch.reset();  // epochs since the kept state are gone through again
  job.recovery.moving = move_for(change.state(), job, intent.joining_workers);
  if (job.recovery.moving) job.recovery.moving->since = change.at();
  Transition transition;
  transition.joining_workers = place(change, job.id, intent.joining_workers, size);
  measure_on(job, type_of_workers(change.state(), transition.joining_workers), change.at());
  transition.since = change.at();
  transition.reason = reason;
  transition.to_size = size;
  become(job, phase::Starting{std::move(transition)});
}

void apply(StateChange& change, const GrowIntent& intent, const Reason& reason) {
  Job& job = change.job(intent.job);
  conclude(job, reason);
  job.recovery.shrunk_for_straggler = false;
  job.preemption.room_made = false;
  const int size = job.size() + static_cast<int>(intent.joining_workers.size());
  Transition transition;
  transition.joining_workers = place(change, job.id, intent.joining_workers, size);
  transition.reason = reason;
  begin_resize(change, job, std::move(transition));
}

void apply(StateChange& change, const ShrinkIntent& intent, const Reason& reason) {
  Job& job = change.job(intent.job);
  conclude(job, reason, intent.straggler);
  begin_replacement(change, job, intent.straggler, reason);
  job.recovery.shrunk_for_straggler = static_cast<bool>(intent.straggler);
  // A size that its user asks for is had back when the user asks for that.
  if (job.requests.pinned_size == 0) note_claimants(change, job, intent.for_jobs);
  Transition transition;
  transition.leaving_workers = intent.leaving_workers;
  transition.reason = reason;
  begin_resize(change, job, std::move(transition));
}

void apply(StateChange& change, const ReplaceIntent& intent, const Reason& reason) {
  Job& job = change.job(intent.job);
  const WorkerId straggler = straggler_of(intent);
  conclude(job, reason, straggler);
  begin_replacement(change, job, straggler, reason);
  Transition transition;
  transition.joining_workers = place(change, job.id, {intent.joining_worker}, job.size());
  take_place_of(change, straggler, intent.joining_worker.worker);
  transition.leaving_workers = {intent.leaving_worker};
  transition.reason = reason;
  transition.replaces = true;
  begin_resize(change, job, std::move(transition));
}

void apply(StateChange& change, const MoveIntent& intent, const Reason& reason) {
  Job& job = change.job(intent.job);
  const WorkerId straggler = straggler_of(intent);
  conclude(job, reason, straggler);
  begin_replacement(change, job, straggler, reason);
  const std::size_t leaving = intent.leaving_workers.size();
  const auto size = job.size() + static_cast<int>(intent.joining_workers.size() - leaving);
  Transition transition;
  transition.joining_workers = place(change, job.id, intent.joining_workers, size);
  transition.leaving_workers = intent.leaving_workers;
  transition.reason = reason;
  transition.replaces = true;
  take_place_of(change, straggler, transition.joining_workers.front());
  if (size > job.size()) {
    job.recovery.shrunk_for_straggler = false;
    job.preemption.room_made = false;
  }
  begin_resize(change, job, std::move(transition));
}

void apply(StateChange& change, const RebalanceIntent& intent, const Reason& reason) {
  Job& job = change.job(intent.job);
  conclude(job, reason, intent.regains ? WorkerId() : intent.worker);
  if (!intent.regains) tell_straggler(change, job, intent.worker, reason);
  job.shares.turns[intent.worker] = turns_after(job, intent.worker, intent.regains);
  for (std::size_t rank = 0; rank < job.membership.members.size(); ++rank) {
    const WorkerId id = job.membership.members[rank];
    if (intent.weights[rank] == kFullShare) {
      job.shares.rebalanced.erase(id);
      continue;
    }
    const auto [rebalanced, is_new] = job.shares.rebalanced.try_emplace(id);
    if (is_new) rebalanced->second.lost_s = change.worker(id).track.waited_s;
    rebalanced->second.weight = intent.weights[rank];
  }
  job.shares.ordered = {.number = intent.number, .weights = intent.weights};
  job.shares.awaited = true;
}

// What the transition wanted of this generation has come about: all of it, or the first of two switches of a move.
void advance(Transition& transition, const IdSet<WorkerId>& members) {
  const auto joined = [&](WorkerId id) { return members.contains(id); };
  const auto& joining = transition.joining_workers;
  const auto& leaving = transition.leaving_workers;
  transition.committed =
      std::all_of(joining.begin(), joining.end(), joined) && std::none_of(leaving.begin(), leaving.end(), joined);
  if (transition.committed) return;
  std::erase_if(transition.joining_workers, joined);
  std::erase_if(transition.leaving_workers, [&](WorkerId id) { return !joined(id); });
}

void apply(StateChange& change, const SwitchIntent& intent, const Reason& reason) {
  Job& job = change.job(intent.job);
  if (intent.after_failure) conclude(job, reason);
  if (intent.after_failure) count_quiet_exits(change, job);
  // A failure during a switch keeps the size from which the job came.
  const int before = job.membership.switched ? job.size() : job.membership.commit.from_size;
  job.membership.commit = {
      .at = change.at(),
      .reason = reason,
      .replaces = !intent.after_failure && job.phase.transition() && job.phase.transition()->replaces,
      .from_size = job.membership.members.empty() ? 0 : before,
      .after_failure = intent.after_failure};
  const IdSet<WorkerId> members(intent.members.begin(), intent.members.end());
  const IdSet<WorkerId> were_members(job.membership.members.begin(), job.membership.members.end());
  for (const WorkerId id : job.membership.workers) {
    const bool program_ends = job.spec.resize == ResizeMode::kRestart && change.worker(id).launched > 0;
    const bool ends = were_members.contains(id) && (program_ends || !members.contains(id));
    if (ends) (void)give_notice(change, id, reason, job.spec.elastic.grace);
    if (members.contains(id)) {
      change.worker(id).phase = WorkerPhase::kMember;
    } else if (were_members.contains(id)) {
      mark_leaving(change, id, std::nullopt);
    }
    // Leaving workers of a switch that never came leave now.
    const Worker& worker = change.worker(id);
    const bool stranded = worker.phase == WorkerPhase::kLeaving && !worker.stop_due && !worker.kill_at;
    if (intent.after_failure && stranded) change.worker(id).stop_due = change.at() + job.spec.elastic.grace;
  }
  job.membership.generation = intent.number;
  job.membership.members = intent.members;
  measure_on(job, type_of_workers(change.state(), {intent.members.rbegin(), intent.members.rend()}), change.at());
  job.membership.switched = false;
  begin_shares(job);
  job.membership.restart_state.failed = WorkerId();
  for (const WorkerId id : job.membership.members) change.worker(id).program_ended = false;
  if (job.phase.transition() && !intent.after_failure) advance(*job.phase.transition(), members);
}

void apply(StateChange& change, const LaunchIntent& intent, const Reason&) {
  Job& job = change.job(intent.job);
  job.membership.restart_state.launched = intent.number;
  job.membership.restart_state.launched_at = change.at();
  job.membership.restart_state.home = change.worker(job.membership.members.front()).node;
}

void apply(StateChange& change, const PreemptIntent& intent, const Reason& reason) {
  Job& job = change.job(intent.job);
  conclude(job, reason);
  count_quiet_exits(change, job);
  give_up_move(change, job, "the job gives up its workers");
  if (!job.requests.suspend) change.emit("job.requeued", job, {{"size", job.size()}, {"reason", reason_data(reason)}});
  become(job, phase::Suspending{});
  job.preemption.room_made = false;
  job.preemption.asked.reset();
  if (intent.for_job) note_claimants(change, job, {intent.for_job});
  if (intent.for_job && change.state().tenants->limits_preemption()) {
    count_preemption(change.state(), job, change.at());
    change.job(intent.for_job).preemption.room_made = true;
  }
  job.membership.parking = intent.number > 0;
  job.membership.restart_state.failed = WorkerId();
  if (job.membership.parking) {
    job.membership.generation = intent.number;
    job.membership.commit = {
        .at = change.at(), .reason = reason, .from_size = job.size(), .after_failure = intent.after_failure};
  }
  job.membership.members.clear();
  begin_shares(job);
  job.membership.switched = false;
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = change.worker(id);
    if (worker.phase == WorkerPhase::kLeaving && worker.stop_due) continue;  // has its own time to leave
    const bool parks = job.membership.parking && may_hold_state(worker);
    std::optional<Instant> due;
    if (parks) {
      const LeaveNotice& notice = give_notice(change, id, reason, job.spec.elastic.grace);
      // Without any grace, too, it is due after this decision: nothing that is due already follows from one.
      due = std::max({notice.by, change.at() + job.spec.elastic.grace, change.at() + Duration::micros(1)});
    }
    mark_leaving(change, id, due);
  }
}

void apply(StateChange& change, const AskIntent& intent, const Reason& reason) {
  Job& job = change.job(intent.job);
  conclude(job, reason);
  const Duration grace = job.spec.elastic.grace;
  job.preemption.asked =
      LeaveQuestion{.for_job = intent.for_job, .decision = change.decision(), .answer_by = change.at() + grace};
  for (const WorkerId id : job.membership.members) (void)give_notice(change, id, reason, grace);
}

// A worker that is stopped because it gives no sign of life stays where it is until it is gone, and then counts as
// lost.
bool counts_as_lost(const Job& job, const Worker& worker, StopCause cause) {
  const bool boots = job.phase.transition() && contains(job.phase.transition()->joining_workers, worker.id);
  switch (cause) {
    case StopCause::kStartTimeout: return boots;
    case StopCause::kStuck: return boots || worker.phase == WorkerPhase::kMember;
    case StopCause::kSwitchTimeout: return worker.phase == WorkerPhase::kMember;
    case StopCause::kLeaves: return false;
  }
  return false;
}

void apply(StateChange& change, const StopWorkerIntent& intent, const Reason& reason) {
  Job& job = change.job(intent.job);
  Worker& worker = change.worker(intent.worker);
  worker.kill_at = change.at() + intent.grace;
  worker.stopped_for = reason;
  if (intent.grace > Duration()) (void)give_notice(change, intent.worker, reason, intent.grace);
  if (counts_as_lost(job, worker, intent.cause)) return;
  worker.phase = WorkerPhase::kLeaving;
  drop_from_transition(change, job, intent.worker);
  end_move_if_pointless(change, job);
}

void apply(StateChange& change, const ProbeIntent& intent, const Reason&) {
  change.worker(intent.worker).track.probed = true;
}

JobState state_of(JobEnd end) {
  switch (end) {
    case JobEnd::kSucceeded: return JobState::kSucceeded;
    case JobEnd::kFailed: return JobState::kFailed;
    case JobEnd::kCancelled: return JobState::kCancelled;
  }
  return JobState::kFailed;
}

void apply(StateChange& change, const EndJobIntent& intent, const Reason& reason) {
  Job& job = change.job(intent.job);
  conclude(job, reason);
  give_up_move(change, job, "the job ends");
  become(job, phase::Ended{.how = state_of(intent.end), .at = change.at()});
  remove_job(change.state().tenant_jobs, *change.state().tenants, job.spec.tenant);
  job.membership.parking = false;
  job.requests.checkpoint = false;
  job.membership.members.clear();
  job.membership.on_lost_nodes.clear();
  begin_shares(job);
  job.membership.switched = false;
  for (const WorkerId id : job.membership.workers) mark_leaving(change, id, std::nullopt);
  job.planned.reset();
  if (change.state().deployment.active) change.state().deployment.job_ended = true;
  change.capacity_changed();
  change.emit("job.finished", job, finished_data(job));
}

// Before the intents, so that the inputs are what the policy saw.
void apply(StateChange& change, const Replan& replan, const Decision& decision, std::uint64_t nodes) {
  ClusterPlan& plan = change.state().plan;
  if (!replan.error.empty() && replan.error != plan.error) {
    change.emit("policy.error", {{"policy", decision.policy}, {"error", replan.error}});
  }
  plan.policy = decision.policy;
  plan.made_at = decision.at;
  plan.nodes = nodes;
  plan.mark = replan.mark;
  plan.wake = replan.wake;
  plan.error = replan.error;
  if (replan.counts_loans) plan.loans_counted = decision.at;
  for (const TenantChange& change_of : replan.tenants) {
    if (change_of.now) {
      plan.tenants.insert_or_assign(change_of.tenant, *change_of.now);
    } else {
      plan.tenants.erase(change_of.tenant);
    }
  }
  change.state().deployment.answer.reset();
  change.state().deployment.job_ended = false;
  for (const auto& [id, now, words_only] : replan.changes) {
    if (words_only) {
      change.words_of(id).planned->target = *now;
      continue;
    }
    Job& job = change.job(id);
    job.planned.reset();
    if (!now || now->size <= job.size()) job.preemption.room_made = false;
    if (now) job.planned = {.target = *now, .inputs = inputs_of(job, decision.at)};
  }
}

}  // namespace

void apply_decision(StateChange& change, const Decision& decision, std::uint64_t nodes) {
  if (decision.empty()) return;
  TP_CHECK(decision.id.number() == change.state().next_decision, "decisions are numbered in order");
  ++change.state().next_decision;
  change.follow(decision.id);
  if (!decision.plan.empty() || !decision.nodes.empty())
    change.emit("decision.made", decision_data(decision, change.state()));
  if (decision.replan) apply(change, *decision.replan, decision, nodes);
  for (const auto& planned : decision.plan) {
    std::visit([&](const auto& intent) { apply(change, intent, planned.reason); }, planned.intent);
  }
  apply_nodes(change, decision.nodes);
  for (const auto& verdict : decision.verdicts) {
    Job& job = change.words_of(verdict.job);
    job.verdict = verdict;
    if (verdict.blocked.on == BlockedOn::kSavedState && !job.recovery.waits_near_since)
      job.recovery.waits_near_since = change.at();
    if (const WorkerId straggler = verdict.blocked.straggler) tell_straggler(change, job, straggler, verdict.reason);
  }
}

}  // namespace tidepool::core
