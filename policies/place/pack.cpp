#include "policies/place/pack.hpp"

#include <optional>

namespace tidepool::policies {

std::vector<cluster::Placement> Pack::place(const cluster::View& view, const cluster::Allocation& allocation) const {
  return place_in_order(view, allocation, [&](const std::vector<int>& free, const cluster::Grant& grant, int missing) {
    std::optional<std::size_t> fullest;  // of those with room for all that is missing
    std::size_t emptiest = 0;
    for (std::size_t node = 0; node < free.size(); ++node) {
      if (!suits(view.nodes[node], grant)) continue;
      if (free[node] >= missing && (!fullest || free[node] < free[*fullest])) fullest = node;
      if (!suits(view.nodes[emptiest], grant) || free[node] > free[emptiest]) emptiest = node;
    }
    return fullest.value_or(emptiest);
  });
}

}  // namespace tidepool::policies
