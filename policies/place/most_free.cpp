#include "policies/place/most_free.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace tidepool::policies {
namespace {

// Requires: a node that suits has free slots.
std::size_t most_free(const cluster::View& view, const std::vector<int>& free, const cluster::Grant& grant) {
  std::size_t most = free.size();
  for (std::size_t node = 0; node < free.size(); ++node) {
    if (free[node] > (most < free.size() ? free[most] : 0) && suits(view.nodes[node], grant)) most = node;
  }
  TP_CHECK(most < free.size(), "sizes that were checked find their slots");
  return most;
}

}  // namespace

std::vector<cluster::Placement> MostFree::place(const cluster::View& view,
                                                const cluster::Allocation& allocation) const {
  Standing standing = keep_unchanged(view, allocation);
  for (const std::size_t row : allocation.order) {
    cluster::Placement& placement = standing.placements[row];
    if (!placement.empty()) continue;
    for (int missing = allocation.grants[row].size; missing > 0;) {
      const std::size_t most = most_free(view, standing.free, allocation.grants[row]);
      const int slots = std::min(standing.free[most], missing);
      placement.push_back({.node = static_cast<int>(most), .slots = slots});
      standing.free[most] -= slots;
      missing -= slots;
    }
  }
  return std::move(standing.placements);
}

}  // namespace tidepool::policies
