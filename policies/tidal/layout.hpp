// Where the market's sizes lie, and what becomes of them where no node has room. Jobs of unchanged size stay; every
// other job, the largest first, goes to as few nodes as possible. Where that fails, what is worth most is done: another
// job makes room, the job takes a smaller size that fits, it stays as it is, or it is spread. Last, jobs that lie on
// more nodes than they need move together where that is worth their standing still.
#pragma once

#include <vector>

#include "policies/cluster/cluster_view.hpp"
#include "policies/tidal/market_state.hpp"

namespace tidepool::policies::tidal {

struct Laid {
  std::vector<cluster::Placement> placements;  // per row; no size above what the market gave
  double worth = 0;                            // of all of them, where they really lie
};
// `market_state`: settled, with exactly the jobs of the view.
[[nodiscard]] Laid lay_out(const cluster::View& view, const MarketState& market_state);

// What one job has bought, of slots of one type. `curve` and `worth` outlive the layout.
struct Bought {
  int size = 0;
  const Curve* curve = nullptr;
  const UtilityCurve* worth = nullptr;
};
// Of one type among several: per row what it has bought of this type, null and 0 for those that have nothing there; the
// nodes of other types have no slots.
[[nodiscard]] Laid lay_out(const cluster::View& view, const std::vector<cluster::NodeRow>& nodes,
                           const std::vector<Bought>& bought, double price);

}  // namespace tidepool::policies::tidal
