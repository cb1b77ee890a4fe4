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
  for (std::size_t node = 0; node < free.size(); ++node) {
    if (!free[node]) continue;
    auto leaving = leaving_from(static_cast<int>(node), slots - *free[node], change.worth, leavers);
    if (leaving && (!best || leaving->slots < best->slots)) best = std::move(leaving);
  }
  if (!best) return false;
  for (const std::size_t i : best->jobs) {
    leavers.leave[i] = true;
    give_up(free, leavers.jobs[i].row->placement, 0);
  }
  return take(free, slots);
}

// All workers of a job that holds nothing, or none.
bool enter(Free& free, Leavers& leavers, const GangRoom::Change& change) {
  Free tried = free;
  Leavers told = leavers;
  for (int found = 0; found < change.size; found += change.row->slots_per_worker) {
    if (!take(tried, change.row->slots_per_worker) && !make_room(tried, told, change)) return false;
  }
  free = std::move(tried);
  leavers = std::move(told);
  return true;
}

}  // namespace

void GangRoom::put(const Placement& held) {
  for (const Share& share : held) add(free_, share.node, -share.slots);
}

void GangRoom::take_out(const Placement& held) {
  for (const Share& share : held) add(free_, share.node, share.slots);
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
      give_up(free, change.row->placement, change.size);
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
    while (found < fit.sizes[i] && take(tried, row.slots_per_worker)) found += row.slots_per_worker;
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
