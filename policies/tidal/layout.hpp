// Places the market's sizes on nodes, and decides what happens to a size for which no node has room. Jobs of unchanged
// size stay; every other job, the largest first, goes to as few nodes as possible. Where that fails, the alternative
// with the highest worth is chosen: another job makes room, the job takes a smaller size that fits, it stays as it is,
// or it is spread. Last, jobs on more nodes than they need move together where that is worth their pause.
#pragma once

#include <vector>

#include "policies/cluster/cluster_view.hpp"
#include "policies/tidal/market_state.hpp"

namespace tidepool::policies::tidal {

struct Laid {
  std::vector<cluster::Placement> placements;  // per row; no size above what the market sold
  double worth = 0;                            // of all of them, with these placements
};
// `market_state`: settled, with exactly the jobs of the view.
[[nodiscard]] Laid lay_out(const cluster::View& view, const MarketState& market_state);

// What one job has bought of slots of one type. `curve` and `worth` outlive the layout.
struct Bought {
  int size = 0;
  const Curve* curve = nullptr;
  const UtilityCurve* worth = nullptr;
};
// The same for one type among several: per row what it has bought of this type, null and 0 for rows that have nothing
// there; the nodes of other types have no slots.
[[nodiscard]] Laid lay_out(const cluster::View& view, const std::vector<cluster::NodeRow>& nodes,
                           const std::vector<Bought>& bought, double price);

}  // namespace tidepool::policies::tidal
