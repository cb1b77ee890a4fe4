// The state shared by the steps of one decision about nodes.
//
// Rule: the steps run in the order of provision_stage.cpp; each sees the orders of the earlier steps.
#pragma once

#include <cstdint>

#include "base/money.hpp"
#include "core/provision/node_orders.hpp"
#include "core/provision/pool_targets.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// A node is bought for growth only if its worth is above kBuyAbove times its price, and emptied only below kSellBelow
// times its price, so that a worth near the price causes no change.
inline constexpr double kBuyAbove = 1.1;
inline constexpr double kSellBelow = 0.9;

[[nodiscard]] inline Money scaled(Money money, double by) {
  return Money::micros(static_cast<std::int64_t>(static_cast<double>(money.count_micros()) * by));
}

struct ProvisionTurn {
  ProvisionTurn(const ClusterState& of, Instant at) : state(of), now(at), orders(of, at), targets(of) {}

  const ClusterState& state;
  Instant now;
  NodeOrders orders;
  PoolTargets targets;
};

// Some node that has joined will soon be removed. A node whose provider no longer ends it, or fails to end it, is not
// waited for.
[[nodiscard]] bool any_goes(const ClusterState& state);

}  // namespace tidepool::core
