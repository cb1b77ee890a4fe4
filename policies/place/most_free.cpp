#include "policies/place/most_free.hpp"

namespace tidepool::policies {

std::vector<cluster::Placement> MostFree::place(const cluster::View& view,
                                                const cluster::Allocation& allocation) const {
  return place_in_order(view, allocation, [&](const std::vector<int>& free, const cluster::Grant& grant, int) {
    std::size_t most = 0;
    for (std::size_t node = 0; node < free.size(); ++node) {
      if (!suits(view.nodes[node], grant)) continue;
      if (!suits(view.nodes[most], grant) || free[node] > free[most]) most = node;
    }
    return most;
  });
}

}  // namespace tidepool::policies
