#include "core/decide/transition_planner.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/first_after.hpp"
#include "base/id_set.hpp"
#include "core/decide/drain_planner.hpp"
#include "core/decide/hang_planner.hpp"
#include "core/decide/restart_planner.hpp"
#include "core/decide/state_wait.hpp"
#include "core/decide/type_moves.hpp"
#include "core/state/budget_hold.hpp"
#include "core/state/job_state.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/measured/straggler_patience.hpp"
#include "core/state/membership.hpp"
#include "core/state/state_move.hpp"
#include "core/state/worker_groups.hpp"
#include "core/tenants/preemption_limits.hpp"

namespace tidepool::core {
namespace {

struct Ending {
  JobEnd end;
  Reason reason;
};

// `uncounted`: losses that this decision will count.
std::optional<Ending> ending_of(const Job& job, Instant now, int uncounted = 0) {
  if (job.requests.cancel) return Ending{JobEnd::kCancelled, reason::CancelledByUser{}};
  if (job.progress.finished && job.recovery.ended_badly) {
    return Ending{JobEnd::kFailed, reason::FailedAtEnd{.steps = job.progress.step}};
  }
  if (job.progress.finished) {
    return Ending{JobEnd::kSucceeded, reason::Finished{.steps = job.progress.step}};
  }
  if (job.hold && job.hold->action == BudgetAction::kStop) return Ending{JobEnd::kCancelled, why_stopped(job)};
  const int restarts = job.recovery.restarts + uncounted;
  if (job.recovery.misconfigured || restarts > job.spec.max_restarts) {
    reason::WorkersFailed why{.restarts = restarts, .limit = job.spec.max_restarts};
    if (job.recovery.lost_there > 1 && job.spec.resize == ResizeMode::kLive) {
      why.alike = job.recovery.lost_there;
      why.step = job.recovery.lost_step;
    }
    return Ending{JobEnd::kFailed, why};
  }
  const auto& limit = job.spec.max_duration;
  if (limit && job.started_at && now >= *job.started_at + *limit) {
    return Ending{JobEnd::kFailed, reason::MaxDuration{.limit = *limit}};
  }
  return std::nullopt;
}

// Live workers that no stop has been sent to yet.
void stop_all(DecisionDraft& draft, const Job& job, const Reason& reason) {
  for (const WorkerId id : job.membership.workers) {
    if (!is_live(draft.state(), id) || draft.state().find_worker(id)->kill_at) continue;
    draft.stop({job.id, id, job.spec.elastic.grace}, reason);
  }
}

// Its program has nothing left to do.
bool needs_no_more(const Worker& worker) {
  return worker.notice && worker.notice->answer == NoticeAnswer::kDone;
}

Reason why_left_behind(const Job& job, const Worker& worker) {
  if (!job.progress.finished) return reason::LeftBehind{{.worker = worker.id}};
  if (worker.stop_due) return reason::FinishTimeout{{.worker = worker.id}, time_to_finish(job)};
  return reason::Finished{.steps = job.progress.step};
}

// Workers that should have left by now, or that came back after the job went on without them.
void stop_left_behind(DecisionDraft& draft, const Job& job) {
  const Transition* under_way = job.phase.transition();
  const bool first_of_two =
      !job.membership.members.empty() && !job.membership.switched && job.membership.commit.replaces;
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *draft.state().find_worker(id);
    if (worker.phase != WorkerPhase::kLeaving || worker.is_gone() || worker.kill_at) continue;
    const bool waits_for_switch =
        under_way != nullptr && (under_way->committed ? contains(under_way->leaving_workers, id) : first_of_two);
    if (worker.stop_due && needs_no_more(worker)) {
      draft.stop({job.id, id, Duration()}, worker.notice->reason);
      continue;
    }
    if (worker.stop_due ? draft.now() < *worker.stop_due : waits_for_switch) continue;
    const bool is_no_member = !worker.stop_due && !contains(job.membership.members, id);
    const auto drained = is_no_member ? stopped_by_drain(draft, worker) : std::nullopt;
    draft.stop({job.id, id, Duration()}, drained.value_or(why_left_behind(job, worker)));
  }
}

void end_job(DecisionDraft& draft, const Job& job, const Ending& ending) {
  if (!has_live_workers(draft.state(), job)) {
    draft.conclude(job, EndJobIntent{job.id, ending.end}, ending.reason);
  } else if (job.progress.finished && !job.requests.cancel) {
    stop_left_behind(draft, job);
    const bool goes_on = job.spec.resize == ResizeMode::kLive;
    if (goes_on) draft.find(job, reason::Finishing{.steps = job.progress.step, .most = time_to_finish(job)});
  } else {
    stop_all(draft, job, ending.reason);
    draft.find(job, ending.reason);  // what it says while its workers take their grace
  }
}

// Steps that would have to be done again if this worker kept nothing.
std::int64_t steps_at_risk(const Job& job) {
  const SavedState* kept = newest_kept(job);
  return std::max<std::int64_t>(0, job.progress.step - (kept == nullptr ? 0 : kept->step));
}

// Its state is where a later start finds it, as far as it is reported to the engine.
bool has_parked(const Job& job) {
  if (!job.membership.parking || job.spec.resize == ResizeMode::kRestart) return true;
  return job.recovery.suspended && job.recovery.suspended->at >= job.membership.commit.at;
}

// How long it had from its notice on, with what it was granted.
Duration time_to_park(const Job& job, const Worker& worker) {
  const Duration granted = worker.notice ? worker.notice->by - worker.notice->due : Duration();
  return job.spec.elastic.grace + granted;
}

Reason why_too_late(const Job& job, const Worker& worker) {
  const Duration had = time_to_park(job, worker);
  if (job.spec.resize == ResizeMode::kRestart) return reason::EndTimeout{{.worker = worker.id}, had};
  return reason::ParkTimeout{{.worker = worker.id}, had, steps_at_risk(job)};
}

// Workers that keep state have their grace for that; the others, and those that stay beyond it, are stopped. So are
// those that need no more of it.
void stop_parkers(DecisionDraft& draft, const Job& job) {
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *draft.state().find_worker(id);
    if (worker.is_gone() || worker.kill_at) continue;
    if (!worker.stop_due) {
      draft.stop({job.id, id, job.spec.elastic.grace}, job.verdict.reason);
    } else if (draft.now() >= *worker.stop_due) {
      draft.stop({job.id, id, Duration()}, why_too_late(job, worker));
    } else if (needs_no_more(worker) && has_parked(job)) {
      draft.stop({job.id, id, Duration()}, worker.notice->reason);
    }
  }
}

void park(DecisionDraft& draft, const Job& job, const Reason& reason) {
  const std::size_t alive = survivor_count(draft.state(), job);
  const bool keeps = alive > 0 && job.membership.stepping_generation > 0;
  // In the middle of a failure the members have no step in common at which they could leave.
  const bool after_failure =
      alive < job.membership.members.size() || (!job.membership.switched && job.membership.commit.after_failure);
  draft.conclude(job, PreemptIntent{job.id, keeps ? job.membership.generation + 1 : 0, keeps && after_failure}, reason);
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *draft.state().find_worker(id);
    const bool stops = !worker.is_gone() && !worker.kill_at && !(keeps && may_hold_state(worker));
    if (stops) draft.stop({job.id, id, job.spec.elastic.grace}, reason);
  }
}

// Of a job with groups: those that its joining workers were to replace may leave with their groups now.
void stop_joining(DecisionDraft& draft, const Job& job) {
  const Transition* transition = job.phase.transition();
  if (!has_groups(job.spec) || transition == nullptr || transition->committed) return;
  for (const WorkerId id : transition->joining_workers) {
    const bool is_stopped = draft.state().find_worker(id)->kill_at.has_value();
    if (!is_stopped) draft.stop({job.id, id, Duration()}, reason::LeftBehind{{.worker = id}});
  }
}

void switch_to_survivors(DecisionDraft& draft, const Job& job, const std::vector<WorkerId>& alive) {
  std::vector<WorkerId> dead;
  for (const WorkerId id : job.membership.members) {
    if (!contains(alive, id)) dead.push_back(id);
  }
  std::vector<WorkerId> members = in_whole_groups(draft.state(), job, alive);
  reason::WorkerLost reason{{.worker = dead.empty() ? WorkerId() : dead.back()}, static_cast<int>(members.size())};
  if (dead.size() > 1) reason.others = static_cast<int>(dead.size()) - 1;
  draft.conclude(job, SwitchIntent{job.id, job.membership.generation + 1, std::move(members), true}, reason);
  stop_joining(draft, job);
}

Reason below_minimum(const Job& job, std::size_t alive) {
  return reason::BelowMinimum{.survivors = static_cast<int>(alive), .min = job.spec.elastic.min};
}

// Rank 0 of a start goes where its program's checkpoint may be, with its group.
std::vector<WorkerId> home_first(const ClusterState& state, const Job& job, const std::vector<WorkerId>& joining) {
  const auto is_home = [&](WorkerId id) { return state.find_worker(id)->node == job.membership.restart_state.home; };
  const auto each = static_cast<std::ptrdiff_t>(job.spec.elastic.group);
  std::vector<std::tuple<bool, std::ptrdiff_t, bool, WorkerId>> places;
  for (std::ptrdiff_t at = 0; at < std::ssize(joining); ++at) {
    const auto group = joining.begin() + at / each * each;
    const WorkerId id = joining[static_cast<std::size_t>(at)];
    places.emplace_back(std::none_of(group, group + each, is_home), at / each, !is_home(id), id);
  }
  std::sort(places.begin(), places.end());
  std::vector<WorkerId> ordered;
  ordered.reserve(places.size());
  for (const auto& [is_away, group, is_elsewhere, id] : places) ordered.push_back(id);
  return ordered;
}

// The planned change of membership goes through once every joining worker is ready.
void switch_if_ready(DecisionDraft& draft, const Job& job) {
  const Transition& transition = *job.phase.transition();
  if (transition.joining_workers.empty() && transition.leaving_workers.empty()) return;
  for (const WorkerId id : transition.joining_workers) {
    const Worker& worker = *draft.state().find_worker(id);
    if (worker.phase != WorkerPhase::kReady || worker.kill_at) return;
  }
  const IdSet<WorkerId> leaving(transition.leaving_workers.begin(), transition.leaving_workers.end());
  std::vector<WorkerId> members;
  for (const WorkerId id : job.membership.members) {
    if (!leaving.contains(id)) members.push_back(id);
  }
  std::vector<WorkerId> joining_workers = transition.joining_workers;
  // The state of a live job is in its workers: one of them stays until the others have it.
  const bool all_leave = members.empty() && !job.membership.members.empty();
  if (all_leave && job.spec.resize == ResizeMode::kLive) {
    members.push_back(job.membership.members.front());
    if (joining_workers.size() > 1) joining_workers.pop_back();
  }
  if (members.empty()) joining_workers = home_first(draft.state(), job, joining_workers);
  members.insert(members.end(), joining_workers.begin(), joining_workers.end());
  // Of a move to another type that has lost workers on its way.
  if (static_cast<int>(members.size()) < job.spec.elastic.min) {
    return park(draft, job, below_minimum(job, members.size()));
  }
  draft.carry_out(SwitchIntent{job.id, job.membership.generation + 1, std::move(members), false}, transition.reason);
}

// The reason to release the rest, if fewer workers run (or start) than the job needs.
std::optional<Reason> too_few_left(const DecisionDraft& draft, const Job& job) {
  std::size_t alive = survivor_count(draft.state(), job);
  if (job.membership.members.empty() && job.phase.transition()) alive = job.phase.transition()->joining_workers.size();
  if (alive == job.membership.members.size() && !job.membership.members.empty()) return std::nullopt;
  if (!job.membership.members.empty())
    alive = in_whole_groups(draft.state(), job, survivors(draft.state(), job)).size();
  if (alive >= static_cast<std::size_t>(job.spec.elastic.min)) return std::nullopt;
  return below_minimum(job, alive);
}

// Every member that is missing has exited with 0, and rank 0's word that all is done may be on its way.
bool awaits_end(const DecisionDraft& draft, const Job& job) {
  if (!job.recovery.unconfirmed_since ||
      draft.now() >= *job.recovery.unconfirmed_since + draft.parts().config.finish_patience)
    return false;
  return std::all_of(job.membership.members.begin(), job.membership.members.end(), [&](WorkerId id) {
    return is_live(draft.state(), id) || contains(job.recovery.unconfirmed_exits, id);
  });
}

void plan_membership(DecisionDraft& draft, const Job& job) {
  if (survivor_count(draft.state(), job) < job.membership.members.size()) {
    return switch_to_survivors(draft, job, survivors(draft.state(), job));
  }
  if (restart_failed(draft, job)) return;
  launch_if_stopped(draft, job);
  if (is_finishing(draft.state(), job)) return;
  const bool settled = job.membership.members.empty() || job.membership.switched;
  const bool planned = job.phase.transition() && !job.phase.transition()->committed;
  if (planned && settled && all_members_stay(draft.state(), job)) switch_if_ready(draft, job);
}

void follow_through(DecisionDraft& draft, const Job& job) {
  stop_stuck(draft, job);
  if (is_final(job.state())) return stop_left_behind(draft, job);
  const int uncounted = job.recovery.unconfirmed_since && !awaits_end(draft, job) ? 1 : 0;
  if (const auto ending = ending_of(job, draft.now(), uncounted)) return end_job(draft, job, *ending);
  const Reason suspended = reason::SuspendedByUser{};
  if (job.state() == JobState::kSuspending) return stop_parkers(draft, job);
  if (!is_active(job.state())) {
    stop_left_behind(draft, job);
    if (job.state() == JobState::kSuspended) draft.find(job, suspended);
    if (job.state() == JobState::kPending && is_withheld(job)) draft.find(job, why_withheld(job));
    return;
  }
  // A change that would release its workers waits, too: the job may have finished.
  if (awaits_end(draft, job)) return stop_left_behind(draft, job);
  if (job.requests.suspend) return park(draft, job, suspended);
  if (is_withheld(job)) return park(draft, job, why_withheld(job));
  stop_left_behind(draft, job);
  if (const auto reason = suspended_by_drain(draft, job)) return park(draft, job, *reason);
  if (const auto reason = too_few_left(draft, job)) return park(draft, job, *reason);
  stop_late(draft, job);
  plan_membership(draft, job);
}

}  // namespace

void plan_transitions(DecisionDraft& draft, const Job& job) {
  follow_through(draft, job);
  stop_on_drained(draft, job);
}

bool is_ending(const Job& job, Instant now) {
  return ending_of(job, now).has_value();
}

std::optional<Instant> next_due(const ClusterState& state, const Job& job, const EngineConfig& config, Instant after) {
  FirstAfter first(after);
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *state.find_worker(id);
    if (worker.is_gone() || worker.kill_at) continue;
    first.consider(worker.stop_due);
  }
  first.consider(next_hang(state, job, config, after));
  first.consider(next_launch(job));
  if (is_final(job.state())) return first.found();
  if (job.spec.max_duration && job.started_at) first.consider(*job.started_at + *job.spec.max_duration);
  first.consider(state_wait_ends(job));
  first.consider(next_look_for_room(job, after));
  first.consider(next_preemption_due(state, job, after));
  if (!is_active(job.state())) return first.found();
  if (job.recovery.unconfirmed_since) first.consider(*job.recovery.unconfirmed_since + config.finish_patience);
  if (job.last_resize_at && !job.recovery.cooldown_waived)
    first.consider(*job.last_resize_at + job.spec.elastic.cooldown);
  if (job.last_start_at) first.consider(*job.last_start_at + job.spec.elastic.min_runtime);
  first.consider(next_replacement(job));
  const bool unplanned = job.planned && job.planned->target.size == 0;
  if (job.planned && awaits_relaunch(job)) first.consider(job.membership.commit.at + Duration::micros(1));
  first.consider(unplanned ? ends_soon_at(job) : std::nullopt);
  first.consider(unplanned ? overdue_at(job) : std::nullopt);
  return first.found();
}

}  // namespace tidepool::core
