#include "core/facts/training/program_facts.hpp"

#include <algorithm>

#include "core/facts/nodes/node_facts.hpp"
#include "core/facts/training/training_facts.hpp"
#include "core/facts/worker_exit.hpp"
#include "core/state/job_state.hpp"
#include "core/state/membership.hpp"

namespace tidepool::core {
namespace {

// The worker whose program of the newest generation the fact is about; nullptr if it is late or about to be stopped.
const Worker* speaker_of(const ClusterState& state, WorkerId id, GenerationNumber generation) {
  const Worker* worker = state.find_worker(id);
  if (worker == nullptr || worker->phase != WorkerPhase::kMember || worker->is_gone()) return nullptr;
  const Job& job = *state.find_job(worker->job);
  const bool current = job.spec.resize == ResizeMode::kRestart && is_active(job.state()) &&
                       generation == job.membership.generation && generation == job.membership.restart_state.launched &&
                       !winds_down(job);
  return current && !job.membership.restart_state.failed ? worker : nullptr;
}

// The worker whose program of an older generation the fact is about: the program was asked to end for the newest one,
// which its worker starts next. nullptr: there is none, that start has passed, or a failure had already lost the
// unsaved work.
const Worker* restarted_one(const ClusterState& state, WorkerId id, GenerationNumber generation) {
  const Worker* worker = state.find_worker(id);
  if (worker == nullptr || worker->phase != WorkerPhase::kMember) return nullptr;
  const Membership& membership = state.find_job(worker->job)->membership;
  const bool older = generation < membership.generation && !membership.commit.after_failure;
  return older && generation == worker->launched && worker->joining <= generation ? worker : nullptr;
}

template <class Holds>
bool all_members(const ClusterState& state, const Job& job, Holds holds) {
  return std::all_of(job.membership.members.begin(), job.membership.members.end(), [&](WorkerId id) {
    const Worker* worker = state.find_worker(id);
    return worker != nullptr && holds(*worker);
  });
}

void finish(StateChange& change, Job& job) {
  job.progress.finished = true;
  drop_transition(job);
  for (const WorkerId id : job.membership.workers) mark_leaving(change, id, std::nullopt);
}

}  // namespace

Status apply(StateChange& change, const ProgramStarted& fact) {
  TP_TRY(check_worker(change.state(), fact.worker));
  const Worker* worker = speaker_of(change.state(), fact.worker, fact.generation);
  if (worker == nullptr || worker->launched >= fact.generation) return ok_status();
  Job& job = change.job(worker->job);
  change.worker(fact.worker).launched = fact.generation;
  const auto launched = [&](const Worker& each) { return each.launched == job.membership.generation; };
  if (job.membership.switched || !all_members(change.state(), job, launched)) return ok_status();
  // From the order to stop until the last program runs, the job stood still. The step is unknown.
  const double stall_ms = (change.at() - job.membership.commit.at).to_seconds() * 1e3;
  const bool first = !job.started_at;
  TP_TRY(apply(change, GenerationSwitched{.job = job.id,
                                          .generation = job.membership.generation,
                                          .stall_ms = job.membership.commit.from_size == 0 ? 0 : stall_ms}));
  if (!first) return ok_status();
  job.started_at = change.at();
  change.emit("job.started", job, {{"size", job.size()}});
  return ok_status();
}

Status apply(StateChange& change, const ProgramEnded& fact) {
  TP_TRY(check_worker(change.state(), fact.worker));
  const ExitNotice notice{.exit_code = fact.exit_code, .signal = fact.signal, .detail = fact.detail};
  if (const Worker* restarted = restarted_one(change.state(), fact.worker, fact.generation)) {
    emit_if_killed(change, *change.state().find_job(restarted->job), *restarted, notice);
  }
  const Worker* worker = speaker_of(change.state(), fact.worker, fact.generation);
  if (worker == nullptr || worker->program_ended) return ok_status();
  Job& job = change.job(worker->job);
  if (fact.exit_code == 0 && fact.signal == 0) {
    change.worker(fact.worker).program_ended = true;
    const auto ended = [](const Worker& each) { return each.program_ended; };
    if (all_members(change.state(), job, ended)) finish(change, job);
    return ok_status();
  }
  count_failed_program(change, job, *worker, notice);
  return ok_status();
}

}  // namespace tidepool::core
