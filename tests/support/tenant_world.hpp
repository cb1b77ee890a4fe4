// Random trees of tenants with what each is entitled to, and the laws that hold for all of them (docs/fairness.md).
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tests/support/random_tenants.hpp"

namespace tidepool::test {

// A random tree, and what each of its tenants is entitled to.
struct TenantWorld {
  std::vector<core::TenantNode> nodes;
  int slots = 0;
  std::vector<int> shares;

  [[nodiscard]] std::vector<std::size_t> below(int parent) const {
    std::vector<std::size_t> children;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].parent == parent) children.push_back(i);
    }
    return children;
  }
  [[nodiscard]] bool is_leaf(std::size_t i) const { return below(static_cast<int>(i)).empty(); }
  [[nodiscard]] int had_by(int parent) const { return parent < 0 ? slots : shares[static_cast<std::size_t>(parent)]; }
  [[nodiscard]] bool may_have_more(std::size_t i) const {
    return !nodes[i].borrow || shares[i] < nodes[i].guarantee + *nodes[i].borrow;
  }
  // It and all above it may.
  [[nodiscard]] bool is_open(std::size_t i) const {
    for (int at = static_cast<int>(i); at >= 0; at = nodes[static_cast<std::size_t>(at)].parent) {
      if (!may_have_more(static_cast<std::size_t>(at))) return false;
    }
    return true;
  }
};

inline TenantWorld random_world(Rng& rng) {
  TenantWorld world;
  world.slots = static_cast<int>(rng.between(0, 64));
  // Now and then guarantees are more than what is there, as when nodes are gone.
  const int guaranteed = rng.chance(0.8) ? static_cast<int>(rng.between(0, world.slots)) : world.slots + 20;
  world.nodes = random_nodes(rng, guaranteed);
  world.shares = core::entitlements(world.nodes, world.slots);
  return world;
}

inline int sum_of(const TenantWorld& world, const std::vector<std::size_t>& nodes) {
  return std::accumulate(nodes.begin(), nodes.end(), 0, [&](int sum, std::size_t i) { return sum + world.shares[i]; });
}

// What children have is no more than what their parent has.
[[nodiscard]] inline bool adds_up(const TenantWorld& world) {
  for (int parent = -1; parent < static_cast<int>(world.nodes.size()); ++parent) {
    const auto children = world.below(parent);
    if (!children.empty() && sum_of(world, children) > world.had_by(parent)) return false;
  }
  return true;
}
inline void require_sums(const TenantWorld& world) {
  REQUIRE(adds_up(world));
}

inline int sum_of_guarantees(const TenantWorld& world) {
  int promised = 0;
  for (const std::size_t i : world.below(-1)) promised += world.nodes[i].guarantee;
  return promised;
}

// Requires: guarantees fit together.
[[nodiscard]] inline bool meets_guarantees(const TenantWorld& world) {
  for (std::size_t i = 0; i < world.nodes.size(); ++i) {
    const core::TenantNode& node = world.nodes[i];
    if (world.is_leaf(i) && world.shares[i] < std::min(node.guarantee, node.wanted)) return false;
  }
  return true;
}
inline void require_guarantees(const TenantWorld& world) {
  if (sum_of_guarantees(world) <= world.slots) REQUIRE(meets_guarantees(world));
}

inline void require_limits(const TenantWorld& world) {
  for (std::size_t i = 0; i < world.nodes.size(); ++i) {
    const core::TenantNode& node = world.nodes[i];
    INFO("tenant " << i);
    if (node.borrow) REQUIRE(world.shares[i] <= node.guarantee + *node.borrow);
    // More than it wants only of its guarantee that it does not lend, or that those below it do not.
    if (world.is_leaf(i))
      REQUIRE(world.shares[i] <= std::max(node.wanted, node.guarantee - node.lend.value_or(node.guarantee)));
  }
}

// No slot is left while a tenant wants it and may have it.
[[nodiscard]] inline bool wastes_nothing(const TenantWorld& world) {
  const bool is_wanted = [&] {
    for (std::size_t i = 0; i < world.nodes.size(); ++i) {
      if (world.is_leaf(i) && world.shares[i] < world.nodes[i].wanted && world.is_open(i)) return true;
    }
    return false;
  }();
  return !is_wanted || sum_of(world, world.below(-1)) == world.slots;
}
inline void require_no_waste(const TenantWorld& world) {
  REQUIRE(wastes_nothing(world));
}

// What is even adds up to what is shared, and whole slots are less than one from it. Requires: guarantees fit together.
inline void require_even_shares(const TenantWorld& world) {
  const core::FairShares fair = core::fair_shares(world.nodes, world.slots, {});
  double even = 0;
  for (const std::size_t top : world.below(-1)) {
    INFO("tenant " << top);
    even += fair.even[top];
    REQUIRE(std::abs(fair.even[top] - world.shares[top]) < 1 + 1e-6);
  }
  REQUIRE(std::abs(even - sum_of(world, world.below(-1))) < 1e-6);
}

}  // namespace tidepool::test
