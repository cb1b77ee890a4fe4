#include "policies/tidal/gang_room.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace tidepool::policies::tidal {
namespace {

using cluster::JobRow;
using cluster::Placement;
using cluster::Share;
using Free = std::vector<std::optional<int>>;

void add(Free& free, int node, int slots) {
  if (auto& here = free[static_cast<std::size_t>(node)]) *here += slots;
}

// All but the first `stays` slots come free.
void give_up(Free& free, const Placement& held, int stays) {
  for (const Share& share : held) {
    const int kept = std::min(stays, share.slots);
    add(free, share.node, share.slots - kept);
    stays -= kept;
  }
}

// One more worker's slots, from the fullest node with room.
bool take(Free& free, int slots) {
  std::optional<int>* best = nullptr;
  for (auto& node : free) {
    if (node && *node >= slots && (best == nullptr || *node < **best)) best = &node;
  }
  if (best != nullptr) **best -= slots;
  return best != nullptr;
}

}  // namespace

void GangRoom::put(const Placement& held) {
  for (const Share& share : held) add(free_, share.node, -share.slots);
}

void GangRoom::take_out(const Placement& held) {
  for (const Share& share : held) add(free_, share.node, share.slots);
}

std::vector<int> GangRoom::fit(const std::vector<Change>& changes) const {
  Free free = free_;
  std::vector<int> sizes;
  std::vector<std::tuple<int, int, Instant, JobId, std::size_t>> growing;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto& [row, size] = changes[i];
    sizes.push_back(size);
    if (size < size_of(row->placement)) {
      give_up(free, row->placement, size);
    } else {
      growing.emplace_back(-row->slots_per_worker, -size, row->submitted, row->id, i);
    }
  }
  std::sort(growing.begin(), growing.end());
  for (const auto& [width, most, submitted, id, i] : growing) {
    const JobRow& row = *changes[i].row;
    const int held = size_of(row.placement);
    int found = held;
    while (found < sizes[i] && take(free, row.slots_per_worker)) found += row.slots_per_worker;
    if (found < sizes[i]) sizes[i] = std::max(held, largest_size(row, found));
  }
  return sizes;
}

}  // namespace tidepool::policies::tidal
