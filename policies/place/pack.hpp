// Jobs of unchanged size and slot type stay; each other job, in the allocation's order, goes to as few nodes of its
// type as possible: while it needs more than any of them has free, it takes the emptiest one whole; the rest goes to
// the fullest node with enough room. Ties go to the smaller node.
#pragma once

#include "policies/place/place.hpp"

namespace tidepool::policies {

class Pack final : public PlaceStage {
 public:
  [[nodiscard]] std::vector<cluster::Placement> place(const cluster::View& view,
                                                      const cluster::Allocation& allocation) const override;
};

}  // namespace tidepool::policies
