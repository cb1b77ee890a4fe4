#include "core/provision/pool_targets.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include "core/provision/node_orders.hpp"
#include "core/provision/provision_stage.hpp"

namespace tidepool::core {

const PoolTarget* PoolTargets::of(const NodePool& pool) const {
  return state_.deployment.active ? state_.deployment.answer_for(pool.spec.name) : nullptr;
}

bool PoolTargets::is_settled(const NodePool& pool) const {
  return pool.settled_at == state_.pools.changes && pool.backoff.failures == 0;
}

int PoolTargets::least_of(const NodePool& pool) const {
  const PoolTarget* target = of(pool);
  return target == nullptr ? pool.spec.min : wanted_of(*target, pool.spec);
}

template <class Why>
void PoolTargets::tell(const NodePool& pool, int nodes, Why& why) const {
  const PoolTarget& target = *of(pool);
  why.nodes = nodes;
  why.wanted = wanted_of(target, pool.spec);
  why.word = target.word;
  why.numbers = target.numbers;
  Why::fields(std::as_const(why), [&](std::string_view own, const auto&, unsigned = reason::kPlain) {
    std::erase_if(why.numbers, [&](const ReasonNumber& each) { return each.name == own; });
  });
}

reason::NodeForPolicy PoolTargets::why_more(const NodePool& pool, int nodes) const {
  reason::NodeForPolicy why{node_of(pool.spec)};
  tell(pool, nodes, why);
  return why;
}

reason::NodeBeyondPolicy PoolTargets::why_fewer(const NodePool& pool, int nodes, std::optional<Duration> idle) const {
  reason::NodeBeyondPolicy why{.idle = idle};
  tell(pool, nodes, why);
  return why;
}

}  // namespace tidepool::core
