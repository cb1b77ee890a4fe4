#include "policies/tidal/gang_room.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace tidepool::policies::tidal {
namespace {

using cluster::JobRow;
using cluster::Placement;
using cluster::Share;
using Free = std::vector<std::optional<GangRoom::Node>>;

void add(Free& free, const Share& share, int slots, bool moves) {
  auto& here = free[static_cast<std::size_t>(share.node)];
  if (!here) return;
  here->free += slots;
  if (moves) here->movable -= slots;
}

// All but the first `stays` slots come free.
void give_up(Free& free, const Placement& held, int stays, bool moves) {
  for (const Share& share : held) {
    const int kept = std::min(stays, share.slots);
    add(free, share, share.slots - kept, moves);
    stays -= kept;
  }
}

int slots_for(const GangRoom::Node& node, const GangRoom::Change& change) {
  return node.free + (change.asks ? node.movable : std::min(0, node.movable));
}

// All nodes on which it may be, by index.
template <class Look>
void for_each_node(const Free& free, const GangRoom::Change& change, const Look& look) {
  if (change.nodes != nullptr) {
    for (const int node : *change.nodes) look(static_cast<std::size_t>(node));
  } else {
    for (std::size_t node = 0; node < free.size(); ++node) look(node);
  }
}

// One more worker's slots, from the fullest node with room.
bool take(Free& free, const GangRoom::Change& change) {
  const int slots = change.row->slots_per_worker;
  GangRoom::Node* best = nullptr;
  for_each_node(free, change, [&](std::size_t at) {
    auto& node = free[at];
    if (!node || slots_for(*node, change) < slots) return;
    if (best == nullptr || slots_for(*node, change) < slots_for(*best, change)) best = &*node;
  });
  if (best == nullptr) return false;
  const int moved = std::max(0, slots - std::max(0, best->free));
  best->free -= slots - moved;
  best->movable -= moved;
  return true;
}

// Jobs that may leave, the one that gains least from a slot first, and which of them have been told to.
struct Leavers {
  std::vector<GangRoom::Stayer> jobs;
  std::vector<bool> leave;
};

// What leaves one node for a worker.
struct Leaving {
  std::vector<std::size_t> jobs;
  int slots = 0;  // that they give up, on all nodes
};

// `below`: only jobs that gain less from a slot.
std::optional<Leaving> leaving_from(int node, int needed, double below, const Leavers& leavers) {
  Leaving leaving;
  for (std::size_t i = 0; i < leavers.jobs.size() && needed > 0 && leavers.jobs[i].worth < below; ++i) {
    if (leavers.leave[i]) continue;
    const Placement& held = leavers.jobs[i].row->placement;
    const auto here = std::find_if(held.begin(), held.end(), [&](const Share& share) { return share.node == node; });
    if (here == held.end()) continue;
    needed -= here->slots;
    leaving.slots += size_of(held);
    leaving.jobs.push_back(i);
  }
  return needed > 0 ? std::nullopt : std::optional(std::move(leaving));
}

// Room for one more worker, where others give up the fewest slots for it.
bool make_room(Free& free, Leavers& leavers, const GangRoom::Change& change) {
  const int slots = change.row->slots_per_worker;
  std::optional<Leaving> best;
  for_each_node(free, change, [&](std::size_t node) {
    if (!free[node]) return;
    auto leaving = leaving_from(static_cast<int>(node), slots - slots_for(*free[node], change), change.worth, leavers);
    if (leaving && (!best || leaving->slots < best->slots)) best = std::move(leaving);
  });
  if (!best) return false;
  for (const std::size_t i : best->jobs) {
    leavers.leave[i] = true;
    give_up(free, leavers.jobs[i].row->placement, 0, leavers.jobs[i].moves);
  }
  return take(free, change);
}

// All workers of a job that holds nothing, or none.
bool enter(Free& free, Leavers& leavers, const GangRoom::Change& change) {
  Free tried = free;
  Leavers told = leavers;
  for (int found = 0; found < change.size; found += change.row->slots_per_worker) {
    if (!take(tried, change) && !make_room(tried, told, change)) return false;
  }
  free = std::move(tried);
  leavers = std::move(told);
  return true;
}

}  // namespace

GangRoom::GangRoom(const std::vector<std::optional<int>>& slots) {
  for (const auto& here : slots) free_.push_back(here ? std::optional(Node{.free = *here}) : std::nullopt);
}

void GangRoom::hold(const Placement& held, bool moves, int sign) {
  for (const Share& share : held) add(free_, share, -sign * share.slots, moves);
}

std::vector<int> GangRoom::fit(const std::vector<Change>& changes) const {
  return fit(changes, std::vector<Stayer>()).sizes;
}

GangRoom::Fit GangRoom::fit(const std::vector<Change>& changes, const std::vector<Stayer>& stayers) const {
  Free free = free_;
  Fit fit;
  std::vector<std::tuple<int, int, Instant, JobId, std::size_t>> growing;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Change& change = changes[i];
    fit.sizes.push_back(change.size);
    if (change.size < size_of(change.row->placement)) {
      give_up(free, change.row->placement, change.size, change.moves);
    } else {
      growing.emplace_back(-change.row->slots_per_worker, -change.size, change.row->submitted, change.row->id, i);
    }
  }
  std::sort(growing.begin(), growing.end());
  Leavers leavers{.jobs = stayers, .leave = std::vector<bool>(stayers.size())};
  std::sort(leavers.jobs.begin(), leavers.jobs.end(), [](const Stayer& a, const Stayer& b) {
    return std::pair(a.worth, a.row->id) < std::pair(b.worth, b.row->id);
  });
  for (const auto& [width, most, submitted, id, i] : growing) {
    const JobRow& row = *changes[i].row;
    const int held = size_of(row.placement);
    Free tried = free;
    int found = held;
    while (found < fit.sizes[i] && take(tried, changes[i])) found += row.slots_per_worker;
    if (found < fit.sizes[i] && held == 0 && enter(free, leavers, changes[i])) continue;
    free = std::move(tried);
    if (found < fit.sizes[i]) fit.sizes[i] = std::max(held, largest_size(row, found));
  }
  for (std::size_t i = 0; i < leavers.leave.size(); ++i) {
    if (leavers.leave[i]) fit.leave.push_back(leavers.jobs[i].row->id);
  }
  return fit;
}

}  // namespace tidepool::policies::tidal
