// Trees of tenants, drawn at random.
#pragma once

#include <string>
#include <vector>

#include "base/rng.hpp"
#include "core/state/tenants.hpp"
#include "core/tenants/entitlement.hpp"

namespace tidepool::test {

// A tenant's part of its parent's guarantee, so that those of siblings do not go beyond it.
inline int part_of(Rng& rng, int& left) {
  const int part = static_cast<int>(rng.between(0, left));
  left -= part;
  return part;
}

// Up to four levels. `guaranteed`: slots that tenants directly under the pool are promised together, at most.
inline std::vector<core::TenantNode> random_nodes(Rng& rng, int guaranteed) {
  std::vector<core::TenantNode> nodes;
  std::vector<int> level;
  std::vector<int> left;  // of each node's guarantee, for the tenants below it
  const auto add = [&](int parent, int depth, int& promised) {
    core::TenantNode node{.parent = parent, .guarantee = part_of(rng, promised)};
    node.weight = rng.chance(0.15) ? 0 : rng.between(1, 8);
    if (rng.chance(0.2)) node.borrow = static_cast<int>(rng.between(0, 12));
    if (rng.chance(0.2)) node.lend = static_cast<int>(rng.between(0, 8));
    node.wanted = static_cast<int>(rng.chance(0.3) ? 0 : rng.between(0, 40));
    node.loan = rng.chance(0.5) ? 0 : 10 * rng.uniform();
    nodes.push_back(node);
    level.push_back(depth);
    left.push_back(node.guarantee);
  };
  for (std::int64_t i = rng.between(1, 4); i > 0; --i) add(-1, 1, guaranteed);
  for (std::size_t i = 0; i < nodes.size() && nodes.size() < 24; ++i) {
    if (level[i] == 4 || rng.chance(0.5)) continue;
    for (std::int64_t n = rng.between(1, 3); n > 0; --n) {
      int promised = left[i];
      add(static_cast<int>(i), level[i] + 1, promised);
      left[i] = promised;
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const core::TenantNode& node : nodes) {
      if (node.parent == static_cast<int>(i)) nodes[i].wanted = 0, nodes[i].loan = 0;
    }
  }
  return nodes;
}

// The same as a tree that can be set: tenants t0, t1, ...
inline core::TenantTree random_tenants(Rng& rng, int guaranteed) {
  core::TenantTree tree;
  const auto name = [](int i) { return i < 0 ? std::string() : "t" + std::to_string(i); };
  for (const core::TenantNode& node : random_nodes(rng, guaranteed)) {
    tree.tenants.push_back({.name = name(static_cast<int>(tree.tenants.size())),
                            .parent = name(node.parent),
                            .guarantee = node.guarantee,
                            .weight = node.weight,
                            .borrow = node.borrow,
                            .lend = node.lend});
  }
  tree.half_life = Duration::seconds(rng.between(10, 600));
  tree.rebalance_every = Duration::seconds(rng.between(1, 60));
  return tree;
}

inline std::vector<std::string> leaves_of(const core::TenantTree& tree) {
  std::vector<std::string> leaves;
  for (const core::Tenant& tenant : tree.tenants) {
    if (tree.is_leaf(tenant.name)) leaves.push_back(tenant.name);
  }
  return leaves;
}

}  // namespace tidepool::test
