// The pools whose nodes come and go as a policy file sees them that says how many nodes they should have.
//
// Room is counted as the built-in rule counts it (core/provision/): nodes on their way count as there, and a job that
// waits takes room before one that is served later.
#pragma once

#include <vector>

#include "core/state/cluster_state.hpp"
#include "policies/cluster/cluster_view.hpp"

namespace tidepool::policies::host {

// By name, without those that are no longer configured.
[[nodiscard]] std::vector<cluster::PoolRow> pool_rows(const core::ClusterState& state, Instant now);

}  // namespace tidepool::policies::host
