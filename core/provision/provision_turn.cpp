#include "core/provision/provision_turn.hpp"

#include <algorithm>

namespace tidepool::core {
namespace {

constexpr int kFailsToEnd = 2;  // consecutive failed attempts to delete a node

}  // namespace

bool any_goes(const ClusterState& state) {
  return std::any_of(state.pools.nodes.begin(), state.pools.nodes.end(), [&](const auto& any) {
    const PoolNode& mine = any.second;
    return mine.is_leaving() && mine.node && mine.backoff.failures < kFailsToEnd &&
           !state.pools.find(mine.pool)->retired;
  });
}

}  // namespace tidepool::core
