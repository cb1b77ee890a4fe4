#include "policies/place/pack.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace tidepool::policies {
namespace {

// The fullest node with room for `slots`; the emptiest one if there is none.
std::vector<int>::iterator best_node(std::vector<int>& free, int slots) {
  auto best = free.end();
  for (auto node = free.begin(); node != free.end(); ++node) {
    if (*node >= slots && (best == free.end() || *node < *best)) best = node;
  }
  return best != free.end() ? best : std::max_element(free.begin(), free.end());
}

}  // namespace

std::vector<cluster::Placement> Pack::place(const cluster::View& view, const cluster::Allocation& allocation) const {
  Standing standing = keep_unchanged(view, allocation);
  for (const std::size_t row : allocation.order) {
    cluster::Placement& placement = standing.placements[row];
    if (!placement.empty()) continue;
    for (int missing = allocation.grants[row].size; missing > 0;) {
      const auto node = best_node(standing.free, missing);
      TP_CHECK(node != standing.free.end() && *node > 0, "sizes that were checked find their slots");
      const int slots = std::min(*node, missing);
      placement.push_back({.node = static_cast<int>(node - standing.free.begin()), .slots = slots});
      *node -= slots;
      missing -= slots;
    }
  }
  return std::move(standing.placements);
}

}  // namespace tidepool::policies
