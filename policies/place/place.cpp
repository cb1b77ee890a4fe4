#include "policies/place/place.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace tidepool::policies {

bool suits(const cluster::NodeRow& node, const cluster::Grant& grant) {
  return grant.type < 0 || node.type == grant.type;
}

KeptPlaces keep_unchanged(const cluster::View& view, const cluster::Allocation& allocation) {
  KeptPlaces kept;
  for (const cluster::NodeRow& node : view.nodes) kept.free.push_back(node.slots);
  kept.placements.resize(view.jobs.size());
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    const cluster::Placement& held = view.jobs[row].placement;
    if (held.empty() || cluster::size_of(held) != allocation.grants[row].size) continue;
    const auto fits = [&](const cluster::Share& share) {
      return suits(view.nodes[static_cast<std::size_t>(share.node)], allocation.grants[row]);
    };
    if (!std::all_of(held.begin(), held.end(), fits)) continue;
    kept.placements[row] = held;
    for (const cluster::Share& share : held) kept.free[static_cast<std::size_t>(share.node)] -= share.slots;
  }
  return kept;
}

std::vector<cluster::Placement> place_in_order(const cluster::View& view, const cluster::Allocation& allocation,
                                               const NextNode& next) {
  KeptPlaces kept = keep_unchanged(view, allocation);
  for (const std::size_t row : allocation.order) {
    const cluster::Grant& grant = allocation.grants[row];
    cluster::Placement& placement = kept.placements[row];
    if (!placement.empty()) continue;
    for (int missing = grant.size; missing > 0;) {
      const std::size_t node = next(kept.free, grant, missing);
      const bool found = node < kept.free.size() && kept.free[node] > 0 && suits(view.nodes[node], grant);
      TP_CHECK(found, "sizes that were checked find their slots");
      const int slots = std::min(kept.free[node], missing);
      placement.push_back({.node = static_cast<int>(node), .slots = slots});
      kept.free[node] -= slots;
      missing -= slots;
    }
  }
  return std::move(kept.placements);
}

std::vector<cluster::Placement> lay_out(const PlaceStage& stage, const cluster::View& view,
                                        const cluster::Allocation& allocation) {
  return allocation.placements.empty() ? stage.place(view, allocation) : allocation.placements;
}

}  // namespace tidepool::policies
