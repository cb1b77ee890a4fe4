// Jobs of unchanged size and slot type stay; each other job, in the allocation's order, takes what it needs from the
// node of its type with the most free slots, then from the next. Ties go to the smaller node. The rule of Pollux's
// baselines (Qiao et al., OSDI 2021, artifact): it spreads small jobs and so keeps no node whole for large ones.
#pragma once

#include "policies/place/place.hpp"

namespace tidepool::policies {

class MostFree final : public PlaceStage {
 public:
  [[nodiscard]] std::vector<cluster::Placement> place(const cluster::View& view,
                                                      const cluster::Allocation& allocation) const override;
};

}  // namespace tidepool::policies
