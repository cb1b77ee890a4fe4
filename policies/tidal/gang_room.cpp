#include "policies/tidal/gang_room.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
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
struct LeavingJobs {
  std::vector<GangRoom::Stayer> jobs;
  std::vector<std::vector<std::size_t>> on;  // by node, those that hold slots there; in the order of `jobs`
  std::vector<bool> leave;
};

LeavingJobs leaving_jobs_of(const std::vector<GangRoom::Stayer>& stayers, std::size_t nodes) {
  LeavingJobs leaving_jobs{
      .jobs = stayers, .on = std::vector<std::vector<std::size_t>>(nodes), .leave = std::vector<bool>(stayers.size())};
  std::sort(leaving_jobs.jobs.begin(), leaving_jobs.jobs.end(),
            [](const GangRoom::Stayer& a, const GangRoom::Stayer& b) {
              return std::pair(a.worth, a.row->id) < std::pair(b.worth, b.row->id);
            });
  for (std::size_t i = 0; i < leaving_jobs.jobs.size(); ++i) {
    for (const Share& share : leaving_jobs.jobs[i].row->placement) {
      auto& here = leaving_jobs.on[static_cast<std::size_t>(share.node)];
      if (here.empty() || here.back() != i) here.push_back(i);
    }
  }
  return leaving_jobs;
}

// What leaves one node for a worker.
struct Leaving {
  std::vector<std::size_t> jobs;
  int slots = 0;  // that they give up, on all nodes
};

// What a worker asks of a node for which others leave.
struct Lack {
  int slots = 0;     // that it lacks there
  double worth = 0;  // only jobs leave that gain less from a slot
  int most = 0;      // and fewer slots than these are given up
};

std::optional<Leaving> leaving_from(std::size_t node, Lack lack, const LeavingJobs& leaving_jobs) {
  Leaving leaving;
  for (const std::size_t i : leaving_jobs.on[node]) {
    if (lack.slots <= 0 || !(leaving_jobs.jobs[i].worth < lack.worth)) break;
    if (leaving_jobs.leave[i]) continue;
    const Placement& held = leaving_jobs.jobs[i].row->placement;
    leaving.slots += size_of(held);
    if (leaving.slots >= lack.most) return std::nullopt;
    for (const Share& share : held) lack.slots -= static_cast<std::size_t>(share.node) == node ? share.slots : 0;
    leaving.jobs.push_back(i);
  }
  return lack.slots > 0 ? std::nullopt : std::optional(std::move(leaving));
}

// The fewest slots that others give up for a worker on one of the nodes where it lacks at most so many.
Leaving fewest_leaving(const Free& free, const LeavingJobs& leaving_jobs, const GangRoom::Change& change,
                       int lacks_most) {
  const int slots = change.row->slots_per_worker;
  Leaving best{.jobs = {}, .slots = std::numeric_limits<int>::max()};
  for_each_node(free, change, [&](std::size_t node) {
    if (!free[node]) return;
    const Lack lack{.slots = slots - slots_for(*free[node], change), .worth = change.worth, .most = best.slots};
    if (lack.slots > lacks_most || lack.slots >= best.slots) return;  // at least as many leave as it lacks
    if (auto leaving = leaving_from(node, lack, leaving_jobs)) best = *std::move(leaving);
  });
  return best;
}

// Room for one more worker, where others give up the fewest slots for it. No node is better than one where it lacks
// least and no more leave, so these are looked at first.
bool make_room(Free& free, LeavingJobs& leaving_jobs, const GangRoom::Change& change) {
  int least = change.row->slots_per_worker;
  for_each_node(free, change, [&](std::size_t node) {
    if (free[node]) least = std::min(least, change.row->slots_per_worker - slots_for(*free[node], change));
  });
  Leaving best = fewest_leaving(free, leaving_jobs, change, least);
  if (best.slots > least) best = fewest_leaving(free, leaving_jobs, change, std::numeric_limits<int>::max());
  if (best.jobs.empty()) return false;
  for (const std::size_t i : best.jobs) {
    leaving_jobs.leave[i] = true;
    give_up(free, leaving_jobs.jobs[i].row->placement, 0, leaving_jobs.jobs[i].moves);
  }
  return take(free, change);
}

// All workers of a job that holds nothing, or none.
bool enter(Free& free, LeavingJobs& leaving_jobs, const GangRoom::Change& change) {
  Free tried = free;
  const std::vector<bool> told = leaving_jobs.leave;
  for (int found = 0; found < change.size; found += change.row->slots_per_worker) {
    if (take(tried, change) || make_room(tried, leaving_jobs, change)) continue;
    leaving_jobs.leave = told;
    return false;
  }
  free = std::move(tried);
  return true;
}

}  // namespace

GangRoom::GangRoom(const std::vector<std::optional<int>>& slots) {
  for (const auto& here : slots) free_.push_back(here ? std::optional(Node{.free = *here}) : std::nullopt);
}

void GangRoom::hold(const Placement& held, bool moves, int sign) {
  for (const Share& share : held) add(free_, share, -sign * share.slots, moves);
}

int GangRoom::free_on(int node) const {
  const auto& here = free_[static_cast<std::size_t>(node)];
  return here ? std::max(0, here->free) : 0;
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
  LeavingJobs leaving_jobs = leaving_jobs_of(stayers, free.size());
  for (const auto& [width, most, submitted, id, i] : growing) {
    const JobRow& row = *changes[i].row;
    const int held = size_of(row.placement);
    Free tried = free;
    int found = held;
    while (found < fit.sizes[i] && take(tried, changes[i])) found += row.slots_per_worker;
    if (found < fit.sizes[i] && held == 0 && enter(free, leaving_jobs, changes[i])) continue;
    free = std::move(tried);
    if (found < fit.sizes[i]) fit.sizes[i] = std::max(held, largest_size(row, found));
  }
  for (std::size_t i = 0; i < leaving_jobs.leave.size(); ++i) {
    if (leaving_jobs.leave[i]) fit.leave.push_back(leaving_jobs.jobs[i].row->id);
  }
  return fit;
}

}  // namespace tidepool::policies::tidal
