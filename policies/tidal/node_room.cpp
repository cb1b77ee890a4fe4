#include "policies/tidal/node_room.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace tidepool::policies::tidal {

using cluster::Placement;
using cluster::Share;

NodeRoom::NodeRoom(const std::vector<cluster::NodeRow>& nodes) : on_(nodes.size()) {
  for (const cluster::NodeRow& node : nodes) free_.push_back(node.slots);
}

void NodeRoom::put(std::size_t row, const Placement& placement) {
  for (const Share& share : placement) {
    const auto node = static_cast<std::size_t>(share.node);
    free_[node] -= share.slots;
    TP_CHECK(free_[node] >= 0, "a layout gives no slot twice");
    on_[node].push_back(row);
  }
}

void NodeRoom::take(std::size_t row, const Placement& placement) {
  for (const Share& share : placement) {
    const auto node = static_cast<std::size_t>(share.node);
    free_[node] += share.slots;
    std::erase(on_[node], row);
  }
}

int NodeRoom::fullest_with(int slots, int except) const {
  int best = -1;
  for (std::size_t node = 0; node < free_.size(); ++node) {
    if (free_[node] < slots || static_cast<int>(node) == except) continue;
    if (best < 0 || free_[node] < free_[static_cast<std::size_t>(best)]) best = static_cast<int>(node);
  }
  return best;
}

std::optional<Placement> NodeRoom::place(int size, int unit) const {
  if (const int node = fullest_with(size); node >= 0) return Placement{{.node = node, .slots = size}};
  std::vector<int> free = free_;
  Placement placement;
  for (int missing = size; missing > 0;) {
    auto best = free.end();
    for (auto node = free.begin(); node != free.end(); ++node) {
      if (*node >= missing && (best == free.end() || *node < *best)) best = node;
    }
    if (best == free.end()) best = std::max_element(free.begin(), free.end());
    if (best == free.end()) return std::nullopt;
    const int slots = std::min(*best - *best % unit, missing);
    if (slots <= 0) return std::nullopt;
    placement.push_back({.node = static_cast<int>(best - free.begin()), .slots = slots});
    *best = 0;
    missing -= slots;
  }
  return placement;
}

bool NodeRoom::is_free(const Placement& placement) const {
  return std::all_of(placement.begin(), placement.end(),
                     [&](const Share& share) { return free_[static_cast<std::size_t>(share.node)] >= share.slots; });
}

}  // namespace tidepool::policies::tidal
