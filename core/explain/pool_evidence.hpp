// What pools do for a waiting job: which nodes are coming, and what prevents others from coming.
#pragma once

#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// For pools that the job may use; if it may use none, why each pool creates no node for it. Empty if the job does not
// wait, or there are no pools.
[[nodiscard]] std::vector<std::string> pool_evidence(const ClusterState& state, const Job& job);

// The pool is a spot pool, and one more node would exceed the permitted share of spot nodes.
[[nodiscard]] bool spot_share_binds(const NodePools& pools, const PoolSpec& spec);

}  // namespace tidepool::core
