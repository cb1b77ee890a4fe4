#include "policies/place/place.hpp"

namespace tidepool::policies {

Standing keep_unchanged(const cluster::View& view, const cluster::Allocation& allocation) {
  Standing standing;
  for (const cluster::NodeRow& node : view.nodes) standing.free.push_back(node.slots);
  standing.placements.resize(view.jobs.size());
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    const cluster::Placement& held = view.jobs[row].placement;
    if (held.empty() || cluster::size_of(held) != allocation.grants[row].size) continue;
    standing.placements[row] = held;
    for (const cluster::Share& share : held) standing.free[static_cast<std::size_t>(share.node)] -= share.slots;
  }
  return standing;
}

}  // namespace tidepool::policies
