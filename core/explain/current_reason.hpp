// A reason with its present numbers. Numbers that change with every step or second, and the pool's numbers, are read
// again, because a verdict is stored again only when its code changes.
#pragma once

#include "core/state/cluster_state.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

// Refreshes any reason that was given for the job.
[[nodiscard]] Reason refreshed(const ClusterState& state, const Job& job, Reason reason);
// Refreshes the reason of the job's verdict.
[[nodiscard]] Reason current_reason(const ClusterState& state, const Job& job);

// The job waits, and neither the nodes that are up, even if they were empty, nor those that its pools may have would
// hold it. `why`: its current_reason().
[[nodiscard]] bool cannot_start(const Job& job, const Reason& why);

}  // namespace tidepool::core
