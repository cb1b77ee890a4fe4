// What workers tell of saved states, by chance: checkpoints taken and failed, and what a start goes on from.
#pragma once

#include "base/rng.hpp"
#include "core/state/fact.hpp"
#include "core/state/job.hpp"
#include "core/state/state_move.hpp"

namespace tidepool::test {

// Requires: the job has members.
inline core::Fact checkpoint_report(const core::Job& job, Rng& rng) {
  const WorkerId writer = job.membership.members.front();
  const GenerationNumber number = job.membership.generation;
  if (rng.chance(0.3)) return core::CheckpointFailed{job.id, writer, number, job.progress.step, "disk full"};
  return core::CheckpointTaken{job.id, writer, number, job.progress.step, 1000, 2, "/ckpt"};
}

// Mostly the newest kept state; sometimes an older one, or none.
inline core::StateRestored restored(const core::Job& job, Rng& rng) {
  const core::SavedState* kept = core::newest_kept(job);
  const std::int64_t step = kept != nullptr && rng.chance(0.9) ? kept->step : 0;
  return {job.id, job.membership.generation, step, 1000, "/ckpt"};
}

}  // namespace tidepool::test
