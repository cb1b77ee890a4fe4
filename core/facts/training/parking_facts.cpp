#include "core/facts/training/parking_facts.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "core/facts/job_facts.hpp"
#include "core/state/job_state.hpp"
#include "core/state/ledger.hpp"
#include "core/state/membership.hpp"

namespace tidepool::core {
namespace {

constexpr double kSamplesMost = 0x1p62;  // reports may contain wild values

// Samples used in `step` committed steps: as reported, or else in proportion. The next report of steps corrects the
// number.
std::int64_t samples_at(const Job& job, std::int64_t step) {
  if (step == 0) return 0;
  if (step == job.progress.step) return job.progress.samples;
  for (const auto& kept : {job.recovery.suspended, job.recovery.checkpoint}) {
    if (kept && kept->step == step) return kept->samples;
  }
  const std::int64_t batch = job.spec.batch.global;
  if (job.progress.step == 0) {
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / std::max<std::int64_t>(1, batch);
    return batch * std::min(step, most);
  }
  const double mean = static_cast<double>(job.progress.samples) / static_cast<double>(job.progress.step);
  return static_cast<std::int64_t>(std::min(mean * static_cast<double>(step), kSamplesMost));
}

void count_up_to(Job& job, std::int64_t step) {
  if (step <= job.progress.step) return;
  job.progress.samples = samples_at(job, step);
  job.progress.step = step;
}

SavedState kept_by(const StateChange& change, const Job& job, const Worker& worker, const auto& fact) {
  return {.step = fact.step,
          .samples = samples_at(job, fact.step),
          .node = worker.node,
          .at = change.at(),
          .bytes = std::max<std::int64_t>(0, fact.bytes)};
}

// The worker that wrote the state in `fact`; null if it belongs to another job or has left, or the step is negative.
const Worker* writer_of(const ClusterState& state, const auto& fact) {
  const Worker* worker = state.find_worker(fact.worker);
  return worker != nullptr && worker->job == fact.job && fact.step >= 0 ? worker : nullptr;
}

// The worker that took the checkpoint, or should have; null if the report does not count. It may be of the previous
// generation: its writer lives, so the job has not restarted since those steps.
Result<const Worker*> writer_of_checkpoint(const ClusterState& state, const auto& fact) {
  const auto known = known_job(state, fact.job);
  if (!known) return known.error();
  const bool counts = !is_final((*known)->state()) && fact.generation <= (*known)->membership.generation;
  return counts ? writer_of(state, fact) : nullptr;
}

}  // namespace

Status apply(StateChange& change, const StateParked& fact) {
  const auto known = known_job(change.state(), fact.job);
  if (!known) return known.error();
  const Worker* writer = writer_of(change.state(), fact);
  if (!(*known)->membership.parking || writer == nullptr) return ok_status();
  // After a failure several workers write; the state with the most steps counts.
  const auto& before = (*known)->recovery.suspended;
  if (before && before->at >= (*known)->membership.commit.at && before->step >= fact.step) return ok_status();
  Job& job = change.job(fact.job);
  count_up_to(job, fact.step);
  job.recovery.suspended = kept_by(change, job, *writer, fact);
  book_saved_on_leaving(job, fact.step);
  change.emit("job.parked", job, writer->node,
              {{"generation", fact.generation},
               {"step", fact.step},
               {"bytes", fact.bytes},
               {"write_ms", fact.write_ms},
               {"worker", fact.worker.text()},
               {"node", writer->node.text()}});
  return ok_status();
}

Status apply(StateChange& change, const CheckpointTaken& fact) {
  const auto writer = writer_of_checkpoint(change.state(), fact);
  if (!writer) return writer.error();
  if (*writer == nullptr) return ok_status();
  Job& job = change.job(fact.job);
  job.requests.checkpoint = false;
  job.recovery.checkpoint_failure.reset();
  job.recovery.checkpoint = kept_by(change, job, **writer, fact);
  book_saved(job, fact.step);
  change.emit("job.checkpointed", job,
              {{"generation", fact.generation},
               {"step", fact.step},
               {"bytes", fact.bytes},
               {"write_ms", fact.write_ms},
               {"path", fact.path}});
  return ok_status();
}

Status apply(StateChange& change, const CheckpointFailed& fact) {
  const auto writer = writer_of_checkpoint(change.state(), fact);
  if (!writer) return writer.error();
  if (*writer == nullptr) return ok_status();
  Job& job = change.job(fact.job);
  job.requests.checkpoint = false;
  const auto& before = job.recovery.checkpoint_failure;
  const std::int64_t times = before ? before->times + 1 : 1;
  job.recovery.checkpoint_failure =
      CheckpointFailure{.step = fact.step, .times = times, .at = change.at(), .detail = fact.detail};
  if (!std::has_single_bit(static_cast<std::uint64_t>(times))) return ok_status();
  change.emit("job.checkpoint_failed", job, (*writer)->node,
              {{"generation", fact.generation},
               {"step", fact.step},
               {"times", times},
               {"error", fact.detail},
               {"worker", fact.worker.text()},
               {"node", (*writer)->node.text()}});
  return ok_status();
}

Status apply(StateChange& change, const StateRestored& fact) {
  const auto known = known_job(change.state(), fact.job);
  if (!known) return known.error();
  const bool first = fact.generation == (*known)->membership.generation && (*known)->membership.commit.from_size == 0 &&
                     !(*known)->membership.switched;
  const bool over = (*known)->progress.finished;
  if (!first || over || !is_active((*known)->state()) || fact.step < 0) return ok_status();
  go_on_from(change, change.job(fact.job), {.step = fact.step, .bytes = fact.bytes, .path = fact.path});
  return ok_status();
}

void go_on_from(StateChange& change, Job& job, const Restart& restart) {
  const std::int64_t samples = samples_at(job, restart.step);
  const std::int64_t steps_lost = std::max<std::int64_t>(0, job.progress.step - restart.step);
  const std::int64_t samples_lost = std::max<std::int64_t>(0, job.progress.samples - samples);
  book_lost_steps(job, restart.step);
  job.progress.step = restart.step;
  job.progress.samples = samples;
  change.emit("job.restored", job,
              {{"generation", job.membership.generation},
               {"step", restart.step},
               {"bytes", restart.bytes},
               {"path", restart.path.empty() ? nlohmann::json(nullptr) : nlohmann::json(restart.path)},
               {"steps_lost", steps_lost},
               {"samples_lost", samples_lost}});
}

}  // namespace tidepool::core
