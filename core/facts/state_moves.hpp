// The outcome of bringing a saved state to the node where its job starts. Rule: each transfer ends in exactly one
// event, job.state_brought or job.state_left, and the job commits no generation before it.
#pragma once

#include <string>

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// No effect if the transfer is over, or was another one: agents repeat these messages.
[[nodiscard]] Status apply(StateChange& change, const StateBrought& fact);
[[nodiscard]] Status apply(StateChange& change, const StateLeft& fact);

// The transfer, if one is in progress, is abandoned: the workers that waited for it are started now.
void give_up_move(StateChange& change, Job& job, const std::string& why);
// A worker that should have waited has started without a report about the state: the start time of these workers is
// unknown. Requires: a transfer is in progress.
void give_up_unseen_move(StateChange& change, Job& job, WorkerId started);
// The workers that waited for the state have ended, or one of them has started without a report about it.
void end_move_if_pointless(StateChange& change, Job& job);

}  // namespace tidepool::core
