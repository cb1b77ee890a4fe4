// How long a job stands still when it changes: what has been measured on it, or before that a stated guess.
#pragma once

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// From the start of a worker until it is ready.
[[nodiscard]] Duration boot_time(const Job& job);
// By a live change of one kind; not measured yet, as long as by those of another kind, or as the first switch of its
// start took, which does the same (its workers find each other and take their first step), and at least for a second,
// which is longer than most, so that noise does not cause the first change.
[[nodiscard]] Duration change_stall(const Job& job, TransitionCost TypeRecords::* kind);
// Likewise, of a job whose programs are started anew (ResizeMode::kRestart).
[[nodiscard]] Duration restart_stall(const Job& job);

// What giving up all slots costs until the job steps again with as many: keeping its state, and a start. What it has
// done is kept, so none of it is lost.
[[nodiscard]] Duration resume_cost(const Job& job);

// Slot-seconds that replacing a worker takes from the job when it has so many.
[[nodiscard]] double cost_of_replacing(const Job& job, int size);

}  // namespace tidepool::core
