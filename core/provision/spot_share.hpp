// The number of nodes of pools, and how many of them are in spot pools: NodePools::spot_share limits the latter.
#pragma once

#include "core/state/node_pools.hpp"

namespace tidepool::core {

struct PoolNodeCounts {
  int spot = 0;
  int all = 0;

  void add(const PoolSpec& spec, int nodes) {
    all += nodes;
    if (spec.spot) spot += nodes;
  }
  // `share`: from 0 to 1.
  [[nodiscard]] bool exceed(double share) const { return spot > share * all; }
};

// Counts nodes of all pools, including requested and leaving nodes.
[[nodiscard]] inline PoolNodeCounts count_nodes(const NodePools& pools) {
  PoolNodeCounts counts;
  for (const auto& [name, pool] : pools.pools) counts.add(pool.spec, pools.count(name));
  return counts;
}

}  // namespace tidepool::core
