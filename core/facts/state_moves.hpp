// A saved state that is brought to the node where its job starts: what has come of it. Rule: each move ends in one
// event, job.state_brought or job.state_left, and the job commits no generation before that.
#pragma once

#include <string>

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// Of a move that is over, or was another one, they change nothing: agents say them again.
[[nodiscard]] Status apply(StateChange& change, const StateBrought& fact);
[[nodiscard]] Status apply(StateChange& change, const StateLeft& fact);

// The move, if one is under way, has come to nothing: the workers that have waited are started now.
void give_up_move(StateChange& change, Job& job, const std::string& why);
// A worker that would have waited has started without a word about the state: since when these boot is not known.
// Requires: a move is under way.
void give_up_unseen_move(StateChange& change, Job& job, WorkerId started);
// The workers that would have waited for the state are gone, or one of them has started without a word about it.
void end_move_if_pointless(StateChange& change, Job& job);

}  // namespace tidepool::core
