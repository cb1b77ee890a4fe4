// Quarantined slots: their worker's program has ended, and nothing has proved yet that no process and no memory of it
// is left there.
//
// Rule: they have an owner until the agent's WorkerExited, so no job gets them, and its job goes on without that
// worker. Only an operator may release them before.
#pragma once

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

[[nodiscard]] Status apply(StateChange& change, const SlotsHeld& fact);
[[nodiscard]] Status apply(StateChange& change, const SlotsReleased& fact);

}  // namespace tidepool::core
