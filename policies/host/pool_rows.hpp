// The pools whose nodes come and go, as rows for a policy file that computes how many nodes they should have.
//
// Room is counted as in the built-in rule (core/provision/): nodes on their way count as present, and a waiting job
// takes room before a job that is served later.
#pragma once

#include <vector>

#include "core/state/cluster_state.hpp"
#include "policies/cluster/cluster_view.hpp"

namespace tidepool::policies::host {

// By name, without those that are no longer configured.
[[nodiscard]] std::vector<cluster::PoolRow> pool_rows(const core::ClusterState& state, Instant now);

}  // namespace tidepool::policies::host
