// Nodes that are released, or emptied because they must go: they have held nothing for long enough, their pool has more
// than its maximum, or their lifetime ends.
//
// Rule: of nodes that were requested together, none is released for holding nothing while another of them is still
// coming, or has failed to come for the first time and is requested again.
#pragma once

#include "core/provision/provision_turn.hpp"

namespace tidepool::core {

class NodeReturns {
 public:
  // `turn` outlives it.
  explicit NodeReturns(ProvisionTurn& turn) : turn_(turn) {}

  // Some node has held nothing for the idle time of its pool.
  [[nodiscard]] bool any_idle() const;
  // Some node lacks another node that was requested with it (node_pools.hpp).
  [[nodiscard]] bool any_lacks_another() const;
  // Decides for each node whether it is released or emptied.
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
