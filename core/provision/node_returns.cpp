#include "core/provision/node_returns.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

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
  for (const NodePool* pool : turn_.orders.by_price()) shrink(*pool);
}

void NodeReturns::let_go(const PoolNode& mine) {
  const NodePool& pool = *turn_.state.pools.find(mine.pool);
  if (pool.retired || turn_.orders.give_up(mine)) return;  // a retired pool has no provider to delete its nodes
  if (nears_its_end(mine, turn_.now)) {
    const Duration left = std::max(Duration(), *mine.ends_at - turn_.now);
    return empty(mine, std::max(Duration(), left - kEndMargin), reason::NodeLifetimeEnds{.left = left});
  }
  if (!is_idle(mine)) return;
  const auto staying = static_cast<int>(turn_.orders.staying_in(pool.spec).size());
  if (staying <= turn_.targets.least_of(pool) || turn_.orders.room().held().contains(mine.node)) return;
  if (is_joined_by_others(mine) || awaits_another(mine, pool)) return;
  turn_.orders.order(ReleaseNodeIntent{.request = mine.request, .name = mine.name},
                     why_given_back(mine, pool, staying));
}

// The newest of the nodes that hold least are removed. A coming node holds nothing: it is removed once it has joined.
void NodeReturns::shrink(const NodePool& pool) {
  if (pool.retired) return;
  std::vector<const PoolNode*> nodes = turn_.orders.staying_in(pool.spec);
  auto staying = static_cast<int>(nodes.size());
  const auto coming = static_cast<int>(std::erase_if(nodes, [](const PoolNode* mine) { return mine->is_coming(); }));
  if (staying - coming <= pool.spec.max) return;
  std::erase_if(nodes, [](const PoolNode* mine) { return mine->away_since.has_value(); });
  const auto held = [&](const PoolNode& mine) { return turn_.state.find_node(mine.node)->slots_held(); };
  std::sort(nodes.begin(), nodes.end(), [&](const PoolNode* one, const PoolNode* other) {
    return std::pair(held(*one), other->request) < std::pair(held(*other), one->request);
  });
  const auto surplus = static_cast<std::size_t>(staying - coming - pool.spec.max);
  nodes.resize(std::min(nodes.size(), surplus));
  for (const PoolNode* mine : nodes) {
    empty(*mine, kEmptiedWithin, reason::NodeSurplus{.nodes = staying--, .max = pool.spec.max});
  }
}

void NodeReturns::empty(const PoolNode& mine, Duration within, const Reason& reason) {
  turn_.orders.order(EmptyNodeIntent{.request = mine.request, .name = mine.name, .within = within}, reason);
}

bool NodeReturns::is_idle(const PoolNode& mine) const {
  return mine.idle_since && turn_.now - *mine.idle_since >= turn_.state.pools.find(mine.pool)->spec.idle;
}

// Nodes bought together are useful together, and may come one after another.
bool NodeReturns::is_joined_by_others(const PoolNode& mine) const {
  return std::any_of(turn_.state.pools.nodes.begin(), turn_.state.pools.nodes.end(), [&](const auto& any) {
    return any.second.pool == mine.pool && any.second.is_coming() && any.second.asked_at == mine.asked_at;
  });
}

// One of them has failed to come and is requested again, or will be once its pool may be asked.
bool NodeReturns::awaits_another(const PoolNode& mine, const NodePool& pool) const {
  if (!lacks_another(mine, pool)) return false;
  if (pool.backoff.holds(turn_.now) || turn_.orders.created(mine.pool) > 0) return true;
  return std::any_of(turn_.state.pools.nodes.begin(), turn_.state.pools.nodes.end(), [&](const auto& any) {
    return any.second.pool == mine.pool && any.second.is_coming() && any.second.asked_at > pool.backoff.failed_at;
  });
}

Reason NodeReturns::why_given_back(const PoolNode& mine, const NodePool& pool, int staying) const {
  const Duration idle = turn_.now - *mine.idle_since;
  if (turn_.targets.of(pool) != nullptr) return turn_.targets.why_fewer(pool, staying, idle);
  return reason::NodeIdle{
      .idle = idle, .slots = pool.spec.slots_per_node, .price = pool.spec.price_per_slot_hour, .left = staying - 1};
}

}  // namespace tidepool::core
