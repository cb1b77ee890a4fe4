// Who leaves a node for a gang: what GangRoom says is what its rule says, worked out plainly. For each worker that
// finds no room, on the node where the fewest slots are given up, those to which a slot is worth least, and less than
// to the gang; none unless all its workers find room.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "policies/tidal/gang_room.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

using policies::cluster::JobRow;
using policies::tidal::GangRoom;

struct World {
  std::vector<int> free;            // by node, beside what jobs hold
  std::vector<JobRow> rows;         // that hold slots
  std::vector<double> worth;        // of a slot, by row
  std::vector<Instant> until = {};  // by row, as Stayer::until; empty = all may leave
  JobRow gang;
  double gang_worth = 0;
};

World random_world(Rng& rng) {
  World world;
  const auto nodes = static_cast<std::size_t>(rng.between(1, 12));
  const int slots = static_cast<int>(rng.between(2, 8));
  world.free.assign(nodes, slots);
  for (int i = 0; i < 40; ++i) {
    JobRow row;
    row.id = JobId(static_cast<std::uint64_t>(i + 1));
    for (int part = rng.chance(0.2) ? 2 : 1; part > 0; --part) {
      const auto node = rng.below(nodes);
      const int size = static_cast<int>(rng.between(1, 3));
      if (world.free[node] < size) continue;
      world.free[node] -= size;
      row.placement.push_back({.node = static_cast<int>(node), .slots = size});
    }
    if (row.placement.empty()) continue;
    std::sort(row.placement.begin(), row.placement.end(), [](auto& a, auto& b) { return a.node < b.node; });
    world.rows.push_back(row);
    world.worth.push_back(static_cast<double>(rng.between(1, 6)));
  }
  world.gang.id = JobId(1'000);
  world.gang.slots_per_worker = static_cast<int>(rng.between(2, slots));
  const int workers = static_cast<int>(rng.between(1, 6));
  world.gang.size_min = world.gang.size_max = workers * world.gang.slots_per_worker;
  world.gang_worth = static_cast<double>(rng.between(1, 7));
  return world;
}

// By row.
using Left = std::vector<bool>;

// What has to leave the node, in the order of worth; nothing if even all that may are not enough.
std::optional<std::vector<std::size_t>> least_worth(const World& world, std::size_t node, int lacks, const Left& left) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < world.rows.size(); ++i) {
    if (!left[i] && world.worth[i] < world.gang_worth) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return std::pair(world.worth[a], a) < std::pair(world.worth[b], b); });
  std::vector<std::size_t> leave;
  for (const std::size_t i : order) {
    int here = 0;
    for (const auto& share : world.rows[i].placement) here += share.node == static_cast<int>(node) ? share.slots : 0;
    if (here == 0 || lacks <= 0) continue;
    lacks -= here;
    leave.push_back(i);
  }
  return lacks > 0 ? std::nullopt : std::optional(leave);
}

// A worker goes to the fullest node with room.
bool take(const World& world, std::vector<int>& free) {
  std::optional<std::size_t> best;
  for (std::size_t node = 0; node < free.size(); ++node) {
    if (free[node] >= world.gang.slots_per_worker && (!best || free[node] < free[*best])) best = node;
  }
  if (best) free[*best] -= world.gang.slots_per_worker;
  return best.has_value();
}

// The first of the nodes on which the fewest slots are given up for a worker.
bool make_room(const World& world, std::vector<int>& free, Left& left) {
  std::optional<std::vector<std::size_t>> best;
  int fewest = 0;
  for (std::size_t node = 0; node < free.size(); ++node) {
    const auto leave = least_worth(world, node, world.gang.slots_per_worker - free[node], left);
    if (!leave) continue;
    int slots = 0;
    for (const std::size_t i : *leave) slots += policies::cluster::size_of(world.rows[i].placement);
    if (best && slots >= fewest) continue;
    best = leave;
    fewest = slots;
  }
  if (!best) return false;
  for (const std::size_t i : *best) {
    left[i] = true;
    for (const auto& share : world.rows[i].placement) free[static_cast<std::size_t>(share.node)] += share.slots;
  }
  return true;
}

std::vector<JobId> leaving_by_rule(const World& world) {
  std::vector<int> free = world.free;
  Left left(world.rows.size());
  for (int placed = 0; placed < world.gang.size_max; placed += world.gang.slots_per_worker) {
    if (take(world, free)) continue;
    if (!make_room(world, free, left)) return {};
    (void)take(world, free);
  }
  std::vector<JobId> leave;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i]) leave.push_back(world.rows[i].id);
  }
  return leave;
}

GangRoom::Fit fit_of(const World& world) {
  std::vector<std::optional<int>> slots;
  for (const int free : world.free) slots.emplace_back(free);
  for (const JobRow& row : world.rows) {
    for (const auto& share : row.placement) *slots[static_cast<std::size_t>(share.node)] += share.slots;
  }
  GangRoom room(slots);
  std::vector<GangRoom::KeepingJob> stayers;
  for (std::size_t i = 0; i < world.rows.size(); ++i) {
    room.put(world.rows[i].placement);
    stayers.push_back({.row = &world.rows[i], .worth = world.worth[i]});
    if (!world.until.empty()) stayers.back().until = world.until[i];
  }
  const GangRoom::Change gang{.row = &world.gang, .size = world.gang.size_max, .worth = world.gang_worth};
  GangRoom::Fit fit = room.fit({gang}, stayers);
  std::sort(fit.leave.begin(), fit.leave.end());
  return fit;
}

// A gang of one worker, and jobs of which some may not leave yet and some have a priority as high.
World random_bound_world(Rng& rng) {
  World world = random_world(rng);
  world.gang.size_min = world.gang.size_max = world.gang.slots_per_worker;
  world.gang.priority = 1;
  for (JobRow& row : world.rows) {
    row.priority = static_cast<int>(rng.between(0, 1));
    world.until.push_back(rng.chance(0.7) ? Instant() + Duration::seconds(rng.between(1, 9)) : Instant());
  }
  return world;
}

// It finds room on some node once all have left that may by then.
bool has_room_at(const World& world, Instant at) {
  for (std::size_t node = 0; node < world.free.size(); ++node) {
    int room = world.free[node];
    for (std::size_t i = 0; i < world.rows.size(); ++i) {
      const bool gives_way = world.until[i] == Instant() || world.rows[i].priority < world.gang.priority;
      if (!gives_way || world.until[i] > at || world.worth[i] >= world.gang_worth) continue;
      for (const auto& share : world.rows[i].placement) room += share.node == static_cast<int>(node) ? share.slots : 0;
    }
    if (room >= world.gang.slots_per_worker) return true;
  }
  return false;
}

// When the last of those that leave may.
Instant last_of(const World& world, const std::vector<JobId>& leave) {
  Instant last;
  for (std::size_t i = 0; i < world.rows.size(); ++i) {
    if (std::find(leave.begin(), leave.end(), world.rows[i].id) != leave.end()) last = std::max(last, world.until[i]);
  }
  return last;
}

}  // namespace

TEST_CASE("the jobs that leave for a gang are those that its rule names") {
  int some_leave = 0;
  for_each_seed("who leaves for a gang", 200, [&](std::uint64_t, Rng& rng) {
    for (int i = 0; i < 20; ++i) {
      const World world = random_world(rng);
      const std::vector<JobId> leave = fit_of(world).leave;
      CHECK(leave == leaving_by_rule(world));
      some_leave += leave.empty() ? 0 : 1;
    }
  });
  CHECK(some_leave > 0);
}

TEST_CASE("a gang waits only if it finds no room now, and no longer than until those may leave that make room first") {
  int some_wait = 0;
  for_each_seed("who is waited for", 200, [&](std::uint64_t, Rng& rng) {
    for (int i = 0; i < 20; ++i) {
      const World world = random_bound_world(rng);
      const GangRoom::Fit fit = fit_of(world);
      const bool waits = !fit.wait.empty();
      const Instant last = last_of(world, fit.leave);
      CHECK(waits == (!has_room_at(world, Instant()) && has_room_at(world, Instant() + Duration::seconds(9))));
      CHECK(waits == (last > Instant()));
      if (waits) CHECK_FALSE(has_room_at(world, last - Duration::seconds(1)));
      some_wait += waits ? 1 : 0;
    }
  });
  CHECK(some_wait > 0);
}

}  // namespace tidepool::test
