#include "policies/tidal/gang_room.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

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

// Jobs that may leave, those that may do so first before others, of these the one that gains least from a slot first,
// and which of them have been told to.
struct LeavingJobs {
  std::vector<GangRoom::KeepingJob> jobs;
  std::vector<std::vector<std::size_t>> on;  // by node, those that hold slots there; in the order of `jobs`
  std::vector<bool> leave;
  Instant until_most = {};  // those that may leave later stay; none = now
};

LeavingJobs leaving_jobs_of(const std::vector<GangRoom::KeepingJob>& stayers, std::size_t nodes) {
  LeavingJobs leaving_jobs{
      .jobs = stayers, .on = std::vector<std::vector<std::size_t>>(nodes), .leave = std::vector<bool>(stayers.size())};
  std::sort(leaving_jobs.jobs.begin(), leaving_jobs.jobs.end(),
            [](const GangRoom::KeepingJob& a, const GangRoom::KeepingJob& b) {
              return std::tuple(a.until, a.worth, a.row->id) < std::tuple(b.until, b.worth, b.row->id);
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
  Instant until;  // when the last of them may leave; none = now
  int slots = 0;  // that they release, on all nodes
  [[nodiscard]] bool is_better_than(const Leaving& other) const {
    return std::pair(until, slots) < std::pair(other.until, other.slots);
  }
};

// What a worker asks of a node for which others leave.
struct Lack {
  int slots = 0;  // that it lacks there
  const GangRoom::Change& change;
  const Leaving& most;  // only what is better than this
};

// Only jobs leave that gain less from a slot; of those that may not leave yet only those of a lower priority.
bool leaves_for(const GangRoom::Change& change, const GangRoom::KeepingJob& stayer) {
  const bool gives_way = stayer.until == Instant() || stayer.row->priority < change.row->priority;
  return gives_way && stayer.worth < change.worth;
}

std::optional<Leaving> leaving_from(std::size_t node, Lack lack, const LeavingJobs& leaving_jobs) {
  Leaving leaving;
  for (const std::size_t i : leaving_jobs.on[node]) {
    const GangRoom::KeepingJob& stayer = leaving_jobs.jobs[i];
    if (lack.slots <= 0) break;
    if (leaving_jobs.leave[i] || !leaves_for(lack.change, stayer)) continue;
    leaving.until = std::max(leaving.until, stayer.until);
    leaving.slots += size_of(stayer.row->placement);
    if (!leaving.is_better_than(lack.most)) return std::nullopt;
    for (const Share& share : stayer.row->placement) {
      lack.slots -= static_cast<std::size_t>(share.node) == node ? share.slots : 0;
    }
    leaving.jobs.push_back(i);
  }
  return lack.slots > 0 ? std::nullopt : std::optional(std::move(leaving));
}

// What is best to leave for a worker on one of the nodes where it lacks at most so many slots: what may leave first,
// and of that the fewest slots.
Leaving best_leaving(const Free& free, const LeavingJobs& leaving_jobs, const GangRoom::Change& change,
                     int lacks_most) {
  const int slots = change.row->slots_per_worker;
  Leaving best{.jobs = {}, .until = leaving_jobs.until_most, .slots = std::numeric_limits<int>::max()};
  for_each_node(free, change, [&](std::size_t node) {
    if (!free[node]) return;
    const Lack lack{.slots = slots - slots_for(*free[node], change), .change = change, .most = best};
    // At least as many leave as it lacks.
    if (lack.slots > lacks_most || (best.until == Instant() && lack.slots >= best.slots)) return;
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
  Leaving best = best_leaving(free, leaving_jobs, change, least);
  const bool is_best = best.until == Instant() && best.slots <= least;
  if (!is_best) best = best_leaving(free, leaving_jobs, change, std::numeric_limits<int>::max());
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

constexpr Instant kLatest = Instant::from_micros(std::numeric_limits<std::int64_t>::max());

// The same once some that may not leave yet do: they, and those that leave with them, hold what they hold until then.
bool wait(Free& free, LeavingJobs& leaving_jobs, const GangRoom::Change& change, GangRoom::Fit& fit) {
  const std::vector<bool> told = leaving_jobs.leave;
  Free then = free;
  leaving_jobs.until_most = kLatest;
  (void)enter(then, leaving_jobs, change);
  leaving_jobs.until_most = {};
  std::vector<const GangRoom::KeepingJob*> leave;
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (leaving_jobs.leave[i] && !told[i]) leave.push_back(&leaving_jobs.jobs[i]);
  }
  const bool any_waits =
      std::any_of(leave.begin(), leave.end(), [](const auto* each) { return each->until > Instant(); });
  if (!any_waits) {
    leaving_jobs.leave = told;
    return false;
  }
  for (const GangRoom::KeepingJob* each : leave) {
    for (const Share& share : each->row->placement) add(then, share, -share.slots, each->moves);
    fit.held += size_of(each->row->placement);
  }
  free = std::move(then);
  fit.wait.push_back(change.row->id);
  return true;
}

}  // namespace

GangRoom::GangRoom(const std::vector<std::optional<int>>& slots) {
  for (const auto& here : slots) free_.push_back(here ? std::optional(Node{.free = *here}) : std::nullopt);
}

void GangRoom::hold(const Placement& held, bool moves, int sign) {
  for (const Share& share : held) add(free_, share, -sign * share.slots, moves);
}

GangRoom::Fit GangRoom::fit(const std::vector<Change>& changes, const std::vector<KeepingJob>& stayers) const {
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
    const int size = found < fit.sizes[i] ? std::max(held, largest_size(row, found)) : fit.sizes[i];
    Change smallest = changes[i];
    smallest.size = row.size_min;
    const bool finds_none = std::exchange(fit.sizes[i], size) > 0 && size == 0;
    if (finds_none && wait(free, leaving_jobs, smallest, fit)) {
      fit.sizes[i] = row.size_min;
    } else {
      free = std::move(tried);
    }
  }
  for (std::size_t i = 0; i < leaving_jobs.leave.size(); ++i) {
    if (leaving_jobs.leave[i]) fit.leave.push_back(leaving_jobs.jobs[i].row->id);
  }
  return fit;
}

}  // namespace tidepool::policies::tidal
