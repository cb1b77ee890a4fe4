#include "policies/engine/slot_limit.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>

namespace tidepool::policies::cluster {

void limit_slots(View& view, const std::vector<int>& held, const std::vector<bool>& asked, int most) {
  int over = view.slots() - most;
  const auto spare = [&](std::size_t node) { return std::max(0, view.nodes[node].slots - held[node]); };
  std::vector<std::size_t> order(view.nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(bool{asked[a]}, spare(a), a) < std::tuple(bool{asked[b]}, spare(b), b);
  });
  const auto take = [&](std::size_t node, int slots) {
    const int taken = std::min(over, slots);
    view.nodes[node].slots -= taken;
    over -= taken;
  };
  for (const std::size_t node : order) {
    if (over > 0) take(node, spare(node));
  }
  for (auto node = order.rbegin(); node != order.rend() && over > 0; ++node) take(*node, view.nodes[*node].slots);
}

}  // namespace tidepool::policies::cluster
