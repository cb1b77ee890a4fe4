// The programs of a job in ResizeMode::kRestart. A generation is one set of processes: it steps once its last program
// runs, has failed when one program fails, and is done when all have ended without an error.
#pragma once

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

[[nodiscard]] Status apply(StateChange& change, const ProgramStarted& fact);
[[nodiscard]] Status apply(StateChange& change, const ProgramEnded& fact);

}  // namespace tidepool::core
