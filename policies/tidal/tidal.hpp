// Tidepool's own policy for the whole cluster: one price per slot, at which every job, alone, takes the size that is
// worth most to it; then the sizes are laid out, and changed where no node has room. README.md has the mathematics.
// Two ways to ask:
//   Tidal::allocate   from scratch, on rows, as every policy of the table: sizes, places, reasons and the gap to the
//                     bound.
//   MarketState       (market_state.hpp) for an engine: put() what an event has changed, settle(), read the sizes of
//                     the jobs that the settlement names. The same rows give the same sizes either way.
#pragma once

#include "policies/cluster/allocation_policy.hpp"
#include "policies/tidal/market_state.hpp"

namespace tidepool::policies::tidal {

class Tidal final : public cluster::AllocationPolicy {
 public:
  [[nodiscard]] cluster::Allocation allocate(const cluster::View& view, core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies::tidal
