// Who gives up slots for a job that waits.
#pragma once

#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// "job-1 and job-4 give up 4 slots for it": of jobs that were preempted for this one and have not left yet.
[[nodiscard]] std::vector<std::string> victim_evidence(const ClusterState& state, const Job& job);

}  // namespace tidepool::core
