// What is always true of the state, whatever happened: the books of nodes, workers and jobs agree.
// Each law has a name; the answer names the first one broken and where.
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
