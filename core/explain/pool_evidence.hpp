// What pools do about a job that waits: which nodes are on their way, and what keeps others from coming.
#pragma once

#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Of pools that the job may be on; none if it does not wait, or there are no pools.
[[nodiscard]] std::vector<std::string> pool_evidence(const ClusterState& state, const Job& job);

}  // namespace tidepool::core
