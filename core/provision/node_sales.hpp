// A node that holds workers is emptied if the loss of jobs without it is smaller than its cost, or if a policy file
// wants fewer nodes.
//
// Rule: one node at once, from the most expensive pool first, and in a pool the node that holds least; none while a
// node is leaving, and none of a pool with a node that holds nothing: that node is released first (node_returns.hpp).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "core/provision/provision_turn.hpp"
#include "core/provision/size_steps.hpp"

namespace tidepool::core {

class NodeSales {
 public:
  // `turn` outlives it.
  explicit NodeSales(ProvisionTurn& turn) : turn_(turn) {}

  void sell();

 private:
  // For the workers of a node that have no room elsewhere.
  struct Lacking {
    int slots = 0;                 // released by the jobs that lose least
    std::vector<SizeStep> groups;  // released by jobs for their own groups: slots of others may be in no domain
  };
  bool sell_one_of(const NodePool& pool);
  [[nodiscard]] bool has_idle(const PoolSpec& spec) const;
  [[nodiscard]] std::vector<const PoolNode*> at_rest_in(const PoolSpec& spec) const;
  [[nodiscard]] std::ptrdiff_t held(const PoolNode& mine) const;
  [[nodiscard]] std::map<JobId, std::vector<WorkerId>> workers_on(const PoolNode& mine) const;
  [[nodiscard]] std::optional<Money> worth_of(const PoolNode& mine, const PoolSpec& spec,
                                              const std::vector<SizeStep>& into_free) const;
  [[nodiscard]] std::optional<Lacking> lacking_without(const PoolNode& mine) const;
  [[nodiscard]] static bool may_move(const Job& job);
  [[nodiscard]] static bool add_lacking(const Job& job, int workers, Lacking& lacking);
  [[nodiscard]] std::optional<double> lost_without(const PoolNode& mine, const PoolSpec& spec, const Lacking& lacking,
                                                   const std::vector<SizeStep>& into_free) const;
  void empty(const PoolNode& mine, const Reason& reason);

  ProvisionTurn& turn_;
};

}  // namespace tidepool::core
