// The place stage: on which nodes the granted sizes are placed. Pure. A job whose placement changes is paused while it
// moves, so a stage keeps jobs in place where it can.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies {

class PlaceStage {
 public:
  virtual ~PlaceStage() = default;
  // Requires: check_allocation() holds. One placement per row of view.jobs.
  [[nodiscard]] virtual std::vector<cluster::Placement> place(const cluster::View& view,
                                                              const cluster::Allocation& allocation) const = 0;
};

// Whether a node has the slots that a grant requests.
[[nodiscard]] bool suits(const cluster::NodeRow& node, const cluster::Grant& grant);

// The slots of each node that are left when every job whose size and slot type are unchanged stays where it is.
struct KeptPlaces {
  std::vector<int> free;                       // per row of view.nodes
  std::vector<cluster::Placement> placements;  // per row of view.jobs; empty = still to be placed, or holds nothing
};
[[nodiscard]] KeptPlaces keep_unchanged(const cluster::View& view, const cluster::Allocation& allocation);

// Every job of unchanged size and slot type stays; each other job, in the allocation's order, takes what it needs node
// after node. `next` chooses the node: it has free slots that suit the grant; `missing` slots are still needed.
using NextNode = std::function<std::size_t(const std::vector<int>& free, const cluster::Grant& grant, int missing)>;
[[nodiscard]] std::vector<cluster::Placement> place_in_order(const cluster::View& view,
                                                             const cluster::Allocation& allocation,
                                                             const NextNode& next);

// What the policy proposes, or else the stage's placement of its sizes. Requires: check_allocation() holds; the caller
// checks the answer with check_placements().
[[nodiscard]] std::vector<cluster::Placement> lay_out(const PlaceStage& stage, const cluster::View& view,
                                                      const cluster::Allocation& allocation);

}  // namespace tidepool::policies
