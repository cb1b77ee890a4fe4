// Jobs of unchanged size stay if they can; each other job, the largest first, is placed on as few nodes as its size
// allows, for which smaller jobs on one node make room and are placed again. Sia's rules (Jayaram Subramanya et al.,
// SOSP 2023, section 3.4): with sizes that are powers of two within a node and whole nodes beyond, on equal nodes, such
// a layout always exists; otherwise a job is spread over what is free. Ties go to the smaller node and the earlier row.
#pragma once

#include "policies/place/place.hpp"

namespace tidepool::policies {

class Regroup final : public PlaceStage {
 public:
  [[nodiscard]] std::vector<cluster::Placement> place(const cluster::View& view,
                                                      const cluster::Allocation& allocation) const override;
};

}  // namespace tidepool::policies
