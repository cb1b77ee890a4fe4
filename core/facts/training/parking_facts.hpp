// What is saved of a job while it holds no workers, and what a later start uses of it. A start treats a parked state
// and a checkpoint alike: it takes the newest one, and steps beyond it count as not done.
#pragma once

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

[[nodiscard]] Status apply(StateChange& change, const StateParked& fact);
[[nodiscard]] Status apply(StateChange& change, const CheckpointTaken& fact);
// The first, second, fourth, eighth, ... failure since the last checkpoint is reported as an event.
[[nodiscard]] Status apply(StateChange& change, const CheckpointFailed& fact);
[[nodiscard]] Status apply(StateChange& change, const StateRestored& fact);

// Sets the job's progress to `step` committed steps, whatever it was before, and emits job.restored.
struct Restart {
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  std::string path;  // empty: from the beginning
};
void go_on_from(StateChange& change, Job& job, const Restart& restart);

}  // namespace tidepool::core
