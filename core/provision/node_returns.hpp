// Nodes that are given back, or emptied because they have to go: they hold nothing for long enough, their pool has more
// than it may, or their lifetime ends.
//
// Rule: of nodes that were asked for together none is given back for holding nothing while another of them is still
// coming, or has failed to come for the first time and is asked for again.
#pragma once

#include "core/provision/provision_turn.hpp"

namespace tidepool::core {

class NodeReturns {
 public:
  // `turn` outlives it.
  explicit NodeReturns(ProvisionTurn& turn) : turn_(turn) {}

  // Some node has held nothing for as long as its pool says.
  [[nodiscard]] bool any_idle() const;
  // Some node lacks another one of those that it was asked for with (node_pools.hpp).
  [[nodiscard]] bool any_lacks_another() const;
  // Of each node whether it goes.
  void let_go();

 private:
  void let_go(const PoolNode& mine);
  void shrink(const NodePool& pool);
  void empty(const PoolNode& mine, Duration within, const Reason& reason);
  [[nodiscard]] bool is_idle(const PoolNode& mine) const;
  [[nodiscard]] bool is_joined_by_others(const PoolNode& mine) const;
  [[nodiscard]] bool awaits_another(const PoolNode& mine, const NodePool& pool) const;
  [[nodiscard]] Reason why_given_back(const PoolNode& mine, const NodePool& pool, int staying) const;

  ProvisionTurn& turn_;
};

}  // namespace tidepool::core
