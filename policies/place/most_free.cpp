#include "policies/place/most_free.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace tidepool::policies {

std::vector<cluster::Placement> MostFree::place(const cluster::View& view,
                                                const cluster::Allocation& allocation) const {
  Standing standing = keep_unchanged(view, allocation);
  for (const std::size_t row : allocation.order) {
    cluster::Placement& placement = standing.placements[row];
    if (!placement.empty()) continue;
    for (int missing = allocation.grants[row].size; missing > 0;) {
      const auto most = std::max_element(standing.free.begin(), standing.free.end());
      TP_CHECK(most != standing.free.end() && *most > 0, "sizes that were checked find their slots");
      const int slots = std::min(*most, missing);
      placement.push_back({.node = static_cast<int>(most - standing.free.begin()), .slots = slots});
      *most -= slots;
      missing -= slots;
    }
  }
  return std::move(standing.placements);
}

}  // namespace tidepool::policies
