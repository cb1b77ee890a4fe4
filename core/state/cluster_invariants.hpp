// The invariants of the state: its records of nodes, workers and jobs always agree. Each invariant has a name; a check
// returns the name of the first broken one, and where it is broken.
#pragma once

#include <optional>
#include <string>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Checks all invariants over the whole state; for tests and recovered states.
[[nodiscard]] std::optional<std::string> broken_invariant(const ClusterState& state);

// Checks the invariants of one job in O(its workers); called after every change, in release builds too.
// Requires: the job exists.
[[nodiscard]] std::optional<std::string> broken_invariant_of(const ClusterState& state, JobId job);

}  // namespace tidepool::core
