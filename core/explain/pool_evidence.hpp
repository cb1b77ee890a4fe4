// What pools do about a job that waits: which nodes are on their way, and what keeps others from coming.
#pragma once

#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Of pools that the job may be on; where it may be on none, why each makes no node for it. None if it does not wait, or
// there are no pools.
[[nodiscard]] std::vector<std::string> pool_evidence(const ClusterState& state, const Job& job);

// Its nodes are of spot, and with one more they would be more than their share of the nodes that pools have.
[[nodiscard]] bool spot_share_binds(const NodePools& pools, const PoolSpec& spec);

}  // namespace tidepool::core
