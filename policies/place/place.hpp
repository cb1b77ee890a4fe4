// The place stage: on which nodes the granted sizes lie. Pure. A job whose placement differs from what it holds stands
// still while it moves, so a stage keeps what it can in place.
#pragma once

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

// The slots of each node that are left when every job whose size is unchanged stays where it is.
struct Standing {
  std::vector<int> free;                       // per row of view.nodes
  std::vector<cluster::Placement> placements;  // per row of view.jobs; empty = to be placed, or to hold nothing
};
[[nodiscard]] Standing keep_unchanged(const cluster::View& view, const cluster::Allocation& allocation);

}  // namespace tidepool::policies
