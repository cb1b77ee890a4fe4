// What agents report about nodes and the processes on them.
//
// Rule: a worker holds its slots until an agent has proved it gone: by its exit, or by coming back without it. A node
// that is lost proves nothing.
#pragma once

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// A message about a worker that has never existed contradicts the state; one about a worker that is gone is merely
// late.
[[nodiscard]] Status check_worker(const ClusterState& state, WorkerId id);

[[nodiscard]] Status apply(StateChange& change, const NodeJoined& fact);
[[nodiscard]] Status apply(StateChange& change, const NodeLost& fact);
[[nodiscard]] Status apply(StateChange& change, const NodeProbed& fact);
[[nodiscard]] Status apply(StateChange& change, const NodeCordonChanged& fact);
[[nodiscard]] Status apply(StateChange& change, const NodeLabelled& fact);
[[nodiscard]] Status apply(StateChange& change, const WorkerReady& fact);
[[nodiscard]] Status apply(StateChange& change, const WorkerJoining& fact);
[[nodiscard]] Status apply(StateChange& change, const WorkerStuck& fact);
[[nodiscard]] Status apply(StateChange& change, const WorkerExited& fact);

}  // namespace tidepool::core
