// A node that holds workers is emptied, where jobs lose less without it than it costs, or a policy file wants fewer.
//
// Rule: one node at a time, of the dearest pool first, and of a pool the one that holds least; none while a node is on
// its way out, nor of a pool that has a node which holds nothing: that one is given back before (node_returns.hpp).
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
    int slots = 0;                 // that jobs give up, whichever lose least by it
    std::vector<SizeStep> groups;  // that jobs give up of their own: the slots of others may be in no domain
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
