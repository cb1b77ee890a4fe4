#include "policies/place/place.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace tidepool::policies {

bool suits(const cluster::NodeRow& node, const cluster::Grant& grant) {
  return grant.type < 0 || node.type == grant.type;
}

Standing keep_unchanged(const cluster::View& view, const cluster::Allocation& allocation) {
  Standing standing;
  for (const cluster::NodeRow& node : view.nodes) standing.free.push_back(node.slots);
  standing.placements.resize(view.jobs.size());
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    const cluster::Placement& held = view.jobs[row].placement;
    if (held.empty() || cluster::size_of(held) != allocation.grants[row].size) continue;
    const auto fits = [&](const cluster::Share& share) {
      return suits(view.nodes[static_cast<std::size_t>(share.node)], allocation.grants[row]);
    };
    if (!std::all_of(held.begin(), held.end(), fits)) continue;
    standing.placements[row] = held;
    for (const cluster::Share& share : held) standing.free[static_cast<std::size_t>(share.node)] -= share.slots;
  }
  return standing;
}

std::vector<cluster::Placement> place_in_order(const cluster::View& view, const cluster::Allocation& allocation,
                                               const NextNode& next) {
  Standing standing = keep_unchanged(view, allocation);
  for (const std::size_t row : allocation.order) {
    const cluster::Grant& grant = allocation.grants[row];
    cluster::Placement& placement = standing.placements[row];
    if (!placement.empty()) continue;
    for (int missing = grant.size; missing > 0;) {
      const std::size_t node = next(standing.free, grant, missing);
      const bool found = node < standing.free.size() && standing.free[node] > 0 && suits(view.nodes[node], grant);
      TP_CHECK(found, "sizes that were checked find their slots");
      const int slots = std::min(standing.free[node], missing);
      placement.push_back({.node = static_cast<int>(node), .slots = slots});
      standing.free[node] -= slots;
      missing -= slots;
    }
  }
  return std::move(standing.placements);
}

std::vector<cluster::Placement> lay_out(const PlaceStage& stage, const cluster::View& view,
                                        const cluster::Allocation& allocation) {
  return allocation.placements.empty() ? stage.place(view, allocation) : allocation.placements;
}

}  // namespace tidepool::policies
