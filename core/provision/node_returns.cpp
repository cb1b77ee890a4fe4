#include "core/provision/node_returns.hpp"

#include <algorithm>
#include <optional>

namespace tidepool::core {

bool NodeReturns::any_idle() const {
  const auto& nodes = turn_.state.pools.nodes;
  return std::any_of(nodes.begin(), nodes.end(), [&](const auto& any) { return is_idle(any.second); });
}

bool NodeReturns::any_lacks_another() const {
  return std::any_of(turn_.state.pools.nodes.begin(), turn_.state.pools.nodes.end(), [&](const auto& any) {
    return lacks_another(any.second, *turn_.state.pools.find(any.second.pool));
  });
}

void NodeReturns::let_go() {
  for (const auto& [request, node] : turn_.state.pools.nodes) let_go(node);
}

void NodeReturns::let_go(const PoolNode& mine) {
  const NodePool& pool = *turn_.state.pools.find(mine.pool);
  if (pool.retired || turn_.orders.give_up(mine)) return;  // a retired pool has no provider to end its nodes
  if (nears_its_end(mine, turn_.now)) {
    const Duration left = std::max(Duration(), *mine.ends_at - turn_.now);
    return empty(mine, std::max(Duration(), left - kEndMargin), reason::NodeLifetimeEnds{.left = left});
  }
  const int staying = turn_.state.pools.staying(mine.pool) - leaving_[mine.pool];
  if (staying > pool.spec.max) {
    return empty(mine, kEmptiedWithin, reason::NodeSurplus{.nodes = staying, .max = pool.spec.max});
  }
  const bool is_kept = staying <= turn_.wishes.least_of(pool) || turn_.orders.room().held().contains(mine.node);
  if (!is_idle(mine) || is_kept) return;
  if (is_joined_by_others(mine) || awaits_another(mine, pool)) return;
  ++leaving_[mine.pool];
  turn_.orders.order(ReleaseNodeIntent{.request = mine.request, .name = mine.name},
                     why_given_back(mine, pool, staying));
}

void NodeReturns::empty(const PoolNode& mine, Duration within, const Reason& reason) {
  ++leaving_[mine.pool];
  turn_.orders.order(EmptyNodeIntent{.request = mine.request, .name = mine.name, .within = within}, reason);
}

bool NodeReturns::is_idle(const PoolNode& mine) const {
  return mine.idle_since && turn_.now - *mine.idle_since >= turn_.state.pools.find(mine.pool)->spec.idle;
}

// What was bought together is of use together, and may come one after another.
bool NodeReturns::is_joined_by_others(const PoolNode& mine) const {
  return std::any_of(turn_.state.pools.nodes.begin(), turn_.state.pools.nodes.end(), [&](const auto& any) {
    return any.second.pool == mine.pool && any.second.is_coming() && any.second.asked_at == mine.asked_at;
  });
}

// One of them has failed to come and is asked for again, or will be once its pool may be asked.
bool NodeReturns::awaits_another(const PoolNode& mine, const NodePool& pool) const {
  if (!lacks_another(mine, pool)) return false;
  if (pool.backoff.holds(turn_.now) || turn_.orders.created(mine.pool) > 0) return true;
  return std::any_of(turn_.state.pools.nodes.begin(), turn_.state.pools.nodes.end(), [&](const auto& any) {
    return any.second.pool == mine.pool && any.second.is_coming() && any.second.asked_at > pool.backoff.failed_at;
  });
}

Reason NodeReturns::why_given_back(const PoolNode& mine, const NodePool& pool, int staying) const {
  const Duration idle = turn_.now - *mine.idle_since;
  if (turn_.wishes.of(pool) != nullptr) return turn_.wishes.why_fewer(pool, staying, idle);
  return reason::NodeIdle{
      .idle = idle, .slots = pool.spec.slots_per_node, .price = pool.spec.price_per_slot_hour, .left = staying - 1};
}

}  // namespace tidepool::core
