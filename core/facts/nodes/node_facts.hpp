// What agents report about nodes and the processes on them.
//
// Rule: a worker holds its slots until an agent has proved that the worker ended: by reporting its exit, or by
// reconnecting without it. A lost node proves nothing.
#pragma once

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// A message about a worker that never existed contradicts the state; a message about a worker that has ended is merely
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
