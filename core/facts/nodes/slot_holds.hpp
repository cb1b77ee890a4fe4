// Quarantined slots: their worker's program has ended, but nothing has proved yet that none of its processes or memory
// remain there.
//
// Rule: quarantined slots keep their owner until the agent's WorkerExited, so no job gets them, and the owner's job
// continues without that worker. Only an operator may release them earlier.
#pragma once

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

[[nodiscard]] Status apply(StateChange& change, const SlotsHeld& fact);
[[nodiscard]] Status apply(StateChange& change, const SlotsReleased& fact);

}  // namespace tidepool::core
