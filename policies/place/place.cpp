#include "policies/place/place.hpp"

#include <algorithm>

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

std::vector<cluster::Placement> lay_out(const PlaceStage& stage, const cluster::View& view,
                                        const cluster::Allocation& allocation) {
  return allocation.placements.empty() ? stage.place(view, allocation) : allocation.placements;
}

}  // namespace tidepool::policies
