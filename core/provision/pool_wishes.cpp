#include "core/provision/pool_wishes.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include "core/provision/node_orders.hpp"
#include "core/provision/provision_stage.hpp"

namespace tidepool::core {

const PoolWish* PoolWishes::of(const NodePool& pool) const {
  return state_.deployment.active ? state_.deployment.wish_for(pool.spec.name) : nullptr;
}

bool PoolWishes::is_settled(const NodePool& pool) const {
  return pool.settled_at == state_.pools.changes && pool.backoff.failures == 0;
}

int PoolWishes::least_of(const NodePool& pool) const {
  const PoolWish* wish = of(pool);
  return wish == nullptr ? pool.spec.min : wanted_of(*wish, pool.spec);
}

template <class Why>
void PoolWishes::tell(const NodePool& pool, int nodes, Why& why) const {
  const PoolWish& wish = *of(pool);
  why.nodes = nodes;
  why.wanted = wanted_of(wish, pool.spec);
  why.word = wish.word;
  why.numbers = wish.numbers;
  Why::fields(std::as_const(why), [&](std::string_view own, const auto&, unsigned = reason::kPlain) {
    std::erase_if(why.numbers, [&](const ReasonNumber& each) { return each.name == own; });
  });
}

reason::NodeForPolicy PoolWishes::why_more(const NodePool& pool, int nodes) const {
  reason::NodeForPolicy why{node_of(pool.spec)};
  tell(pool, nodes, why);
  return why;
}

reason::NodeBeyondPolicy PoolWishes::why_fewer(const NodePool& pool, int nodes, std::optional<Duration> idle) const {
  reason::NodeBeyondPolicy why{.idle = idle};
  tell(pool, nodes, why);
  return why;
}

}  // namespace tidepool::core
