// How many nodes the active policy file wants in each pool, and which pools that leaves to the built-in rule.
//
// Rule: the built-in rule buys no node in a pool for which the policy file names a number.
#pragma once

#include <optional>

#include "core/state/cluster_state.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

class PoolTargets {
 public:
  explicit PoolTargets(const ClusterState& state) : state_(state) {}

  // The number from the active policy file; null: the built-in rule decides.
  [[nodiscard]] const PoolTarget* of(const NodePool& pool) const;
  // Nothing has happened since the pool released a node; a pool whose attempts fail retries nevertheless.
  [[nodiscard]] bool is_settled(const NodePool& pool) const;
  // Whether the built-in rule may request nodes of the pool.
  [[nodiscard]] bool may_buy(const NodePool& pool) const { return of(pool) == nullptr && !is_settled(pool); }
  // The number of nodes that the pool keeps, whatever they hold.
  [[nodiscard]] int least_of(const NodePool& pool) const;

  // Why the pool with `nodes` nodes gets one more, or has one too many. Both require that the policy file names a
  // number for it.
  [[nodiscard]] reason::NodeForPolicy why_more(const NodePool& pool, int nodes) const;
  [[nodiscard]] reason::NodeBeyondPolicy why_fewer(const NodePool& pool, int nodes, std::optional<Duration> idle) const;

 private:
  template <class Why>
  void tell(const NodePool& pool, int nodes, Why& why) const;

  const ClusterState& state_;
};

}  // namespace tidepool::core
