#include "core/decide/hang_planner.hpp"

#include <algorithm>

#include "base/first_after.hpp"
#include "core/decide/restart_planner.hpp"
#include "core/state/membership.hpp"
#include "core/state/state_move.hpp"

namespace tidepool::core {
namespace {

// While the old generation still steps, preparing a switch may take this many timeouts.
constexpr std::int64_t kTimeoutsBesideSteps = 5;

// By then no program of the generation before runs any more.
Instant programs_end_by(const ClusterState& state, const Job& job) {
  Instant by = job.membership.commit.at + job.spec.elastic.grace;
  for (const WorkerId id : job.membership.workers) {
    const auto& notice = state.find_worker(id)->notice;
    if (notice) by = std::max(by, notice->by);
  }
  return by;
}

// When a committed generation in which no member steps counts as hung.
std::optional<Instant> switch_deadline(const ClusterState& state, const Job& job, const EngineConfig& config) {
  if (!awaits_switch(job)) return std::nullopt;
  if (job.spec.resize == ResizeMode::kRestart) {
    const Instant from_commit = programs_end_by(state, job) + pause_before_launch(job);
    const bool launched =
        job.membership.restart_state.launched == job.membership.generation && job.membership.restart_state.launched_at;
    // The programs get the whole timeout from their launch on, however late that was.
    return (launched ? std::max(from_commit, *job.membership.restart_state.launched_at) : from_commit) +
           config.switch_timeout;
  }
  const Instant newest_sign =
      std::max(job.membership.commit.at, job.progress.reported_at.value_or(job.membership.commit.at));
  return std::min(newest_sign + config.switch_timeout,
                  job.membership.commit.at + config.switch_timeout * kTimeoutsBesideSteps);
}

bool is_joining(const Job& job, WorkerId id) {
  return job.phase.transition() && job.phase.transition()->committed &&
         contains(job.phase.transition()->joining_workers, id);
}

// Of a job whose programs are restarted: members that have not reported that they wait for the generation (once it is
// launched: that their program runs), and leaving workers that are still here.
std::vector<WorkerId> laggards(const ClusterState& state, const Job& job) {
  const bool launched = job.membership.restart_state.launched == job.membership.generation;
  std::vector<WorkerId> late;
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *state.find_worker(id);
    if (worker.is_gone() || worker.kill_at) continue;
    const bool silent = (launched ? worker.launched : worker.joining) < job.membership.generation;
    if (worker.phase == WorkerPhase::kLeaving || (worker.phase == WorkerPhase::kMember && silent)) late.push_back(id);
  }
  return late;
}

// The members that hold up the switch: those that never said where they listen; if all have, the joining workers, since
// the others stepped without them; without joining workers the last rank, so that each try has one suspect fewer.
std::vector<WorkerId> suspects(const ClusterState& state, const Job& job) {
  if (job.spec.resize == ResizeMode::kRestart) return laggards(state, job);
  std::vector<WorkerId> silent;
  std::vector<WorkerId> joining_workers;
  for (const WorkerId id : job.membership.members) {
    const Worker* worker = state.find_worker(id);
    if (worker == nullptr || worker->is_gone()) continue;
    if (worker->joining < job.membership.generation) silent.push_back(id);
    if (is_joining(job, id)) joining_workers.push_back(id);
  }
  if (!silent.empty()) return silent;
  return joining_workers.empty() ? std::vector{job.membership.members.back()} : joining_workers;
}

// When a worker that boots counts as late. Before the state that it waits for has come, it does not boot.
Instant start_deadline(const Job& job, const Worker& worker, const EngineConfig& config) {
  const auto& moving = job.recovery.moving;
  const SavedState* kept = newest_kept(job);
  const bool waits = moving && kept != nullptr && awaits(*moving, worker);
  return worker.started_at + config.start_timeout + (waits ? longest_move(kept->bytes) : Duration());
}

void stop_late_joining_workers(DecisionDraft& draft, const Job& job) {
  if (!job.phase.transition() || job.phase.transition()->committed) return;
  const Duration timeout = draft.parts().config.start_timeout;
  for (const WorkerId id : job.phase.transition()->joining_workers) {
    const Worker& worker = *draft.state().find_worker(id);
    const bool late =
        worker.phase == WorkerPhase::kStarting && draft.now() >= start_deadline(job, worker, draft.parts().config);
    if (!late || worker.kill_at) continue;
    draft.stop({job.id, id, Duration(), StopCause::kStartTimeout}, reason::StartTimeout{{.worker = id}, timeout});
  }
}

void stop_hung_switch(DecisionDraft& draft, const Job& job) {
  const auto deadline = switch_deadline(draft.state(), job, draft.parts().config);
  // A member that is being ended already, or has ended, changes the membership anyway.
  if (!deadline || draft.now() < *deadline || !all_members_stay(draft.state(), job)) return;
  const Duration lasted = draft.now() - job.membership.commit.at;
  for (const WorkerId id : suspects(draft.state(), job)) {
    draft.stop({job.id, id, Duration(), StopCause::kSwitchTimeout},
               reason::SwitchTimeout{{.worker = id}, job.membership.generation, lasted});
  }
}

}  // namespace

void stop_stuck(DecisionDraft& draft, const Job& job) {
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *draft.state().find_worker(id);
    if (!worker.stuck || worker.is_gone() || worker.kill_at) continue;
    draft.stop({job.id, id, Duration(), StopCause::kStuck},
               reason::WorkerStuck{{.worker = id}, worker.stuck->step, worker.stuck->lasted});
  }
}

void stop_late(DecisionDraft& draft, const Job& job) {
  stop_late_joining_workers(draft, job);
  stop_hung_switch(draft, job);
}

std::optional<Instant> next_hang(const ClusterState& state, const Job& job, const EngineConfig& config, Instant after) {
  FirstAfter first(after);
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *state.find_worker(id);
    const bool boots = worker.phase == WorkerPhase::kStarting && !worker.is_gone() && !worker.kill_at;
    if (boots) first.consider(start_deadline(job, worker, config));
  }
  first.consider(switch_deadline(state, job, config));
  return first.found();
}

}  // namespace tidepool::core
