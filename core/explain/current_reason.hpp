// A reason with its numbers as of now. Numbers that change with every step or second, and what the pool has, are read
// anew, because a verdict is stored again only when its code changes.
#pragma once

#include "core/state/cluster_state.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

// A reason that was found for the job.
[[nodiscard]] Reason refreshed(const ClusterState& state, const Job& job, Reason reason);
// That of the job's verdict.
[[nodiscard]] Reason current_reason(const ClusterState& state, const Job& job);

// It waits, and the nodes that are up would not hold it if they were empty, nor would those that its pools may have.
// `why`: its current_reason().
[[nodiscard]] bool cannot_start(const Job& job, const Reason& why);

}  // namespace tidepool::core
