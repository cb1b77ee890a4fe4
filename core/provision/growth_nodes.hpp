// Nodes for running jobs to grow on, where the growth is worth more than the nodes' price.
//
// Rule: one node at once, or as many as one step of a job needs together; none while a node is coming, or while slots
// are free that the policy does not use.
#pragma once

#include <optional>
#include <vector>

#include "core/provision/provision_turn.hpp"
#include "core/provision/size_steps.hpp"

namespace tidepool::core {

class GrowthNodes {
 public:
  // `turn` outlives it.
  explicit GrowthNodes(ProvisionTurn& turn) : turn_(turn) {}

  // Buys nodes for the jobs to which they are worth most.
  void buy();

 private:
  bool buy_for_steps(const NodePool& pool, const std::vector<SizeStep>& steps);
  [[nodiscard]] bool any_in_groups() const;
  [[nodiscard]] bool any_fits(const std::vector<SizeStep>& steps, bool in_part) const;
  [[nodiscard]] std::optional<reason::NodeForGrowth> growth_by(const PoolNodes& nodes,
                                                               const std::vector<SizeStep>& steps) const;

  ProvisionTurn& turn_;
};

}  // namespace tidepool::core
