// What the steps of one decision about nodes share.
//
// Rule: the steps run in the order of provision_stage.cpp; each sees what those before it have ordered.
#pragma once

#include <cstdint>

#include "base/money.hpp"
#include "core/provision/node_orders.hpp"
#include "core/provision/pool_wishes.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// A node is bought for growth only above this multiple of its price, and emptied below that one, so that a worth near
// the price moves nothing.
inline constexpr double kBuyAbove = 1.1;
inline constexpr double kSellBelow = 0.9;

[[nodiscard]] inline Money scaled(Money money, double by) {
  return Money::micros(static_cast<std::int64_t>(static_cast<double>(money.count_micros()) * by));
}

struct ProvisionTurn {
  ProvisionTurn(const ClusterState& of, Instant at) : state(of), now(at), orders(of, at), wishes(of) {}

  const ClusterState& state;
  Instant now;
  NodeOrders orders;
  PoolWishes wishes;
};

// Some node will soon be gone that has been there. One that no provider ends any more, or whose provider fails to, is
// not waited for.
[[nodiscard]] bool any_goes(const ClusterState& state);

}  // namespace tidepool::core
