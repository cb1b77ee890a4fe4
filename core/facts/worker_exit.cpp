#include "core/facts/worker_exit.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/id_set.hpp"
#include "core/facts/event_data.hpp"
#include "core/facts/shares.hpp"
#include "core/facts/state_moves.hpp"
#include "core/state/job_state.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/membership.hpp"
#include "core/state/worker_groups.hpp"
#include "core/words/sentence.hpp"

namespace tidepool::core {
namespace {

bool was_expected(const Worker& worker, const Job& job) {
  // A worker that no longer counted as available was counted then.
  return worker.phase == WorkerPhase::kLeaving || worker.is_gone() || winds_down(job) || !is_active(job.state());
}

constexpr const char* kNeedsRestart = "a program that does not use the tidepool package needs run.resize: restart";

constexpr const char* kNeedsLonger =
    ", and one that takes longer to its first batch a longer engine.start_timeout of the daemon";

// Its program never sent a message to its agent, as programs of live jobs do.
bool is_unheard(const Job& job, const Worker& worker) {
  return job.spec.resize == ResizeMode::kLive && worker.phase == WorkerPhase::kStarting;
}

constexpr const char* kTooSoon =
    "before the training had finished; to end it early a program calls job.finish() or tidepool_finish()";

// It ended as if everything were done.
bool ends_too_soon(const Job& job, const Worker& worker, const ExitNotice& notice) {
  return notice.exit_code == 0 && notice.signal == 0 && !worker.stopped_for && job.spec.resize == ResizeMode::kLive &&
         !job.progress.finished;
}

std::string describe(const Job& job, const Worker& worker, const ExitNotice& notice) {
  if (worker.stopped_for) {
    const std::string why = sentence(*worker.stopped_for);
    const bool may_not_know_us = is_unheard(job, worker) && !job.spec.run->command.empty();
    if (may_not_know_us) return why + "; " + kNeedsRestart + kNeedsLonger;
    return notice.detail.empty() ? why : why + "; " + notice.detail;
  }
  std::string text = worker.id.text();
  if (notice.signal != 0) {
    text += " was ended by signal " + std::to_string(notice.signal);
  } else if (notice.exit_code >= 0) {
    text += " exited with code " + std::to_string(notice.exit_code);
    if (is_unheard(job, worker) && notice.exit_code == 0) {
      text += std::string(" before it joined its job; ") + kNeedsRestart;
    } else if (ends_too_soon(job, worker, notice)) {
      text += std::string(" ") + kTooSoon;
    }
  } else {
    text += " is gone";
  }
  if (notice.detail.empty()) return text;
  return text + (notice.detail.starts_with("last output: ") ? "; " : ": ") + notice.detail;
}

// The data of a loss in addition to exit code and signal.
std::string detail_of(const Job& job, const Worker& worker, const ExitNotice& notice) {
  if (worker.stopped_for) return describe(job, worker, notice);
  std::string why = notice.never_joined ? kNeedsRestart : "";
  if (why.empty() && ends_too_soon(job, worker, notice)) why = std::string("exited ") + kTooSoon;
  return why.empty() || notice.detail.empty() ? why + notice.detail : why + "; " + notice.detail;
}

nlohmann::json lost_data(WorkerId worker, const ExitNotice& notice, const std::string& detail) {
  return {{"worker", worker.text()}, {"exit_code", notice.exit_code}, {"signal", notice.signal}, {"detail", detail}};
}

void emit_lost(StateChange& change, const Job& job, const Worker& worker, const ExitNotice& notice) {
  change.emit("worker.lost", job, worker.node, lost_data(worker.id, notice, detail_of(job, worker, notice)));
}

// The program would end in the same way again.
bool ends_for_good(const ExitNotice& notice) {
  return notice.exit_code == kExitMisconfigured || notice.never_joined;
}

// After the end of training a member's program failed, or was still running when its time was over.
bool fails_at_end(const Job& job, const Worker& worker, const ExitNotice& notice) {
  const bool failed = notice.exit_code > 0 || notice.signal != 0;
  return job.progress.finished && failed && contains(job.membership.members, worker.id) && !worker.is_gone();
}

// A program that is restarted for each change, usually because it did not end in time.
bool is_killed(const Job& job, const Worker& worker, const ExitNotice& notice) {
  return job.spec.resize == ResizeMode::kRestart && worker.launched > 0 && !worker.is_gone() &&
         notice.signal == SIGKILL;
}

// Its own report of failure counts; a program killed from outside may have saved its result.
void note_bad_end(StateChange& change, Job& job, const Worker& worker, const ExitNotice& notice) {
  if (!worker.kill_at && notice.exit_code > 0) job.recovery.ended_badly = true;
  emit_lost(change, job, worker, notice);
}

// A program with a fault of its own fails after the same step each time.
void count_loss(Job& job) {
  Recovery& recovery = job.recovery;
  ++recovery.restarts;
  const auto step = has_stepped(job) ? std::optional(job.progress.step) : std::nullopt;
  recovery.lost_there = step == recovery.lost_step ? recovery.lost_there + 1 : 1;
  recovery.lost_step = step;
}

// The worker is lost during a start.
bool is_lost_booting(const Job& job, const Worker& worker) {
  return worker.phase != WorkerPhase::kMember && job.membership.members.empty();
}

// Another worker of the same start, or another member, was lost, and the job has not stepped since: one cause that
// affects many workers is reported one worker after the other.
bool is_same_loss(const ClusterState& state, const Job& job, const Worker& worker) {
  const Membership& membership = job.membership;
  if (is_lost_booting(job, worker)) return job.recovery.lost_start && job.recovery.lost_start == job.last_start_at;
  if (!contains(membership.members, worker.id)) return false;
  if (!membership.switched && membership.commit.after_failure) return true;
  return std::any_of(membership.members.begin(), membership.members.end(),
                     [&](WorkerId id) { return id != worker.id && !is_live(state, id); });
}

// Once per job, however many of its workers ended together.
void count_loss(Job& job, IdSet<JobId>& counted) {
  if (counted.insert(job.id)) count_loss(job);
}

// The program may have finished: a member has exited with 0, but rank 0, which reports the end, has not.
bool may_have_finished(const ClusterState& state, const Job& job, const Worker& worker, const ExitNotice& notice) {
  const bool well = notice.exit_code == 0 && notice.signal == 0 && !worker.kill_at;
  return well && job.spec.resize == ResizeMode::kLive && worker.phase == WorkerPhase::kMember &&
         job.membership.switched && worker.id != job.membership.members.front() &&
         is_live(state, job.membership.members.front());
}

}  // namespace

void count_quiet_exits(StateChange& change, Job& job) {
  if (job.recovery.unconfirmed_exits.empty()) return;
  count_loss(job);
  for (const WorkerId id : job.recovery.unconfirmed_exits) {
    job.recovery.last_error = id.text() + " exited with code 0 " + kTooSoon;
    const Worker* held = change.state().find_worker(id);  // the others left the state when they exited
    change.emit("worker.lost", job, held == nullptr ? NodeId() : held->node,
                lost_data(id, {.exit_code = 0}, std::string("exited ") + kTooSoon));
  }
  job.recovery.unconfirmed_exits.clear();
  job.recovery.unconfirmed_since.reset();
}

void emit_if_killed(StateChange& change, const Job& job, const Worker& worker, const ExitNotice& notice) {
  if (!is_killed(job, worker, notice)) return;
  if (worker.notice && worker.notice->answer == NoticeAnswer::kDone) {  // it is killed at once, and has saved all
    ++change.state().next_event;  // a replay of rows of a version that reported it gives the same numbers
    return;
  }
  change.emit("worker.killed", job, worker.node, {{"worker", worker.id.text()}, {"detail", notice.detail}});
}

void count_failed_program(StateChange& change, Job& job, const Worker& worker, const ExitNotice& notice) {
  job.membership.restart_state.failed = worker.id;
  if (ends_for_good(notice)) job.recovery.misconfigured = true;
  count_loss(job);
  job.recovery.last_error = describe(job, worker, notice);
  emit_lost(change, job, worker, notice);
}

namespace {

// One loss per job, except for workers that should end anyway. `take(id, job)` removes the worker and says how it was
// lost; `may_be_quiet`: its program has ended, perhaps because it had finished.
template <class Take>
void lose_workers(StateChange& change, const std::vector<WorkerId>& ids, const ExitNotice& notice, bool may_be_quiet,
                  const Take& take) {
  IdSet<JobId> counted;
  IdSet<JobId> jobs;
  for (const WorkerId id : ids) {
    const Worker worker = change.worker(id);
    Job& job = change.job(worker.job);
    jobs.insert(job.id);
    const bool lost = !was_expected(worker, job) || (counted.contains(job.id) && worker.phase != WorkerPhase::kLeaving);
    const bool quiet = lost && may_be_quiet && may_have_finished(change.state(), job, worker, notice);
    const bool boots = is_lost_booting(job, worker);
    const bool bad_end = fails_at_end(job, worker, notice);
    const bool is_free = notice.nothing_started || notice.node_stops || is_same_loss(change.state(), job, worker);
    const std::string how = take(worker, job);
    if (bad_end) {
      job.recovery.last_error = how;
      note_bad_end(change, job, worker, notice);
    } else if (quiet) {
      job.recovery.unconfirmed_exits.push_back(id);
      if (!job.recovery.unconfirmed_since) job.recovery.unconfirmed_since = change.at();
    } else if (lost) {
      if ((boots || notice.never_stepped) && ends_for_good(notice)) job.recovery.misconfigured = true;
      job.recovery.last_error = how;
      if (!is_free) count_loss(job, counted);
      if (!is_free && boots) job.recovery.lost_start = job.last_start_at;
      emit_lost(change, job, worker, notice);
    } else {
      emit_if_killed(change, job, worker, notice);
    }
    drop_from_transition(change, job, id);
  }
  for (const JobId job : jobs) {
    end_move_if_pointless(change, change.job(job));
    reset_job_without_workers(change, change.job(job));
  }
}

// A worker that keeps its slots and was about to join no longer does.
void leave_if_joining(StateChange& change, const Job& job, WorkerId id) {
  const auto& transition = job.phase.transition();
  if (transition && !transition->committed && contains(transition->joining_workers, id)) {
    mark_leaving(change, id, std::nullopt);
  }
}

void free_held_slots(StateChange& change, const Worker& worker) {
  Node& node = change.node(worker.node);
  change.emit("slots.released", node,
              {{"worker", worker.id.text()},
               {"slots", worker.slots},
               {"seconds", (change.at() - worker.held->since).to_seconds()}});
}

}  // namespace

void remove_exited_workers(StateChange& change, const std::vector<WorkerId>& ids, const ExitNotice& notice) {
  lose_workers(change, ids, notice, true, [&](const Worker& worker, Job& job) {
    if (contains(job.membership.on_lost_nodes, worker.id)) job.membership.on_lost_nodes.clear();
    if (worker.held) free_held_slots(change, worker);
    change.remove_worker(worker.id);
    return describe(job, worker, notice);
  });
}

void mark_node_lost(StateChange& change, const std::vector<WorkerId>& ids, const NodeLost& lost) {
  lose_workers(change, ids, {.detail = lost.why, .node_stops = lost.stopped}, false,
               [&](const Worker& worker, Job& job) {
                 change.worker(worker.id).node_lost = true;
                 leave_if_joining(change, job, worker.id);
                 return worker.id.text() + " was on a node that was lost: " + lost.why;
               });
}

void hold_slots(StateChange& change, WorkerId id, const SlotHold& hold, const ExitNotice& notice) {
  lose_workers(change, {id}, notice, true, [&](const Worker& worker, Job& job) {
    if (contains(job.membership.on_lost_nodes, id)) job.membership.on_lost_nodes.clear();
    change.worker(id).held = hold;
    leave_if_joining(change, job, id);
    change.capacity_changed();
    change.emit("slots.quarantined", change.node(worker.node),
                {{"worker", id.text()}, {"slots", worker.slots}, {"why", hold.why}});
    return describe(job, worker, notice);
  });
}

namespace {

// In a start that has lost workers, complete groups continue; the other workers leave.
void keep_whole_groups(StateChange& change, const Job& job, Transition& transition) {
  const std::vector<WorkerId> before =
      std::exchange(transition.joining_workers, in_whole_groups(change.state(), job, transition.joining_workers));
  const IdSet<WorkerId> kept(transition.joining_workers.begin(), transition.joining_workers.end());
  for (const WorkerId id : before) {
    if (!kept.contains(id)) mark_leaving(change, id, std::nullopt);
  }
}

}  // namespace

void drop_from_transition(StateChange& change, Job& job, WorkerId id) {
  if (!job.phase.transition() || job.phase.transition()->committed) return;
  Transition& transition = *job.phase.transition();
  const bool was_joining = std::erase(transition.joining_workers, id) > 0;
  const bool was_leaving = std::erase(transition.leaving_workers, id) > 0;
  if (!was_joining && !was_leaving) return;
  if (was_joining && job.membership.members.empty()) keep_whole_groups(change, job, transition);
  const auto joining_workers = static_cast<int>(transition.joining_workers.size());
  const auto leaving_workers = static_cast<int>(transition.leaving_workers.size());
  transition.to_size = transition.from_size + joining_workers - leaving_workers;
  if (job.membership.members.empty()) return;
  const bool splits = transition.to_size % job.spec.elastic.group != 0;
  const bool is_too_few = was_joining && (splits || (leaving_workers > 0 && transition.to_size < job.spec.elastic.min));
  if (joining_workers > 0 && !is_too_few) return;
  // Workers on the new type continue there; the worker that handed the state over leaves nevertheless.
  if (!splits && leaving_workers > 0 && is_split(change.state(), job)) return;
  // If a change would leave too few workers, or part of a group, the workers that have joined are dropped again.
  for (const WorkerId other : transition.joining_workers) mark_leaving(change, other, std::nullopt);
  drop_transition(job);
  job.last_resize_at = change.at();  // a cooldown before the next try
}

namespace {

// All members live as far as is known, on lost nodes only. Their shares are forgotten with the members, so a job with
// uneven shares cannot continue with them.
bool may_return(const ClusterState& state, const Job& job) {
  if (job.spec.resize != ResizeMode::kLive || !job.membership.switched || job.phase.transition() ||
      job.progress.finished)
    return false;
  if (job.shares.ordered.number != 0 || !job.recovery.unconfirmed_exits.empty()) return false;
  return std::all_of(job.membership.members.begin(), job.membership.members.end(), [&](WorkerId id) {
    const Worker* worker = state.find_worker(id);
    return worker != nullptr && worker->node_lost && !worker->held && !worker->kill_at;
  });
}

}  // namespace

void take_back(StateChange& change, Job& job) {
  const auto size = static_cast<int>(job.membership.on_lost_nodes.size());
  if (size == 0 || job.state() != JobState::kPending || winds_down(job)) return;
  if (size < job.spec.elastic.min || size > job.spec.elastic.max) return;  // its bounds have changed meanwhile
  for (const WorkerId id : job.membership.on_lost_nodes) {
    if (!is_live(change.state(), id)) return;
  }
  job.membership.members = std::exchange(job.membership.on_lost_nodes, {});
  for (const WorkerId id : job.membership.members) {
    Worker& worker = change.worker(id);
    worker.phase = WorkerPhase::kMember;
    worker.stop_due.reset();
    worker.notice.reset();
  }
  job.membership.switched = true;
  job.progress.late_at.reset();  // nothing stepped meanwhile
  become(job, phase::Running{});
  change.capacity_changed();
  change.emit("job.resumed", job, {{"size", job.size()}, {"step", job.progress.step}});
}

void reset_job_without_workers(StateChange& change, Job& job) {
  const bool held_workers = is_active(job.state()) || job.state() == JobState::kSuspending;
  if (!held_workers || has_live_workers(change.state(), job)) return;
  if (!job.progress.finished) count_quiet_exits(change, job);
  job.membership.on_lost_nodes = may_return(change.state(), job) ? job.membership.members : std::vector<WorkerId>();
  job.membership.members.clear();
  begin_shares(job);
  job.membership.switched = false;
  drop_transition(job);
  job.requests.checkpoint = false;
  job.membership.restart_state.failed = WorkerId();
  for (const WorkerId id : job.membership.workers) mark_leaving(change, id, std::nullopt);
  change.capacity_changed();
  const bool ends = job.progress.finished || job.requests.cancel || job.recovery.misconfigured ||
                    job.recovery.restarts > job.spec.max_restarts;
  if (ends) return;
  become(job, job.requests.suspend ? JobPhase(phase::Suspended{}) : phase::Pending{});
  job.preemption.pending_since = change.at();
  if (job.state() == JobState::kSuspended) change.emit("job.suspended", job, suspended_data(job));
}

void mark_leaving(StateChange& change, WorkerId id, std::optional<Instant> stop_due) {
  Worker& worker = change.worker(id);
  worker.phase = WorkerPhase::kLeaving;
  worker.stop_due = stop_due;
}

}  // namespace tidepool::core
