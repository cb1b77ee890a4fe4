// The invariants of the state: what it says of nodes, workers and jobs always agrees. Each has a name; the answer names
// the first one that is broken, and where.
#pragma once

#include <optional>
#include <string>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// All laws over the whole state; for tests and recovered states.
[[nodiscard]] std::optional<std::string> broken_invariant(const ClusterState& state);

// Those of one job, in O(its workers); checked after every change, in release builds too.
// Requires: the job exists.
[[nodiscard]] std::optional<std::string> broken_invariant_of(const ClusterState& state, JobId job);

}  // namespace tidepool::core
