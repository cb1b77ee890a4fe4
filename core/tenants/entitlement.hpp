// How many slots each tenant of a tree may hold now. Fairness only: which of its jobs have them is the policy's market.
//
// From the pool down, at each level, of what the parent has:
//   1. each child is set aside what it wants of its guarantee, and what it does not lend of it;
//   2. the surplus goes by water level (water_level.hpp) to what each wants beyond that, as far as it may borrow; what
//      it held beyond its guarantee of late (TenantPlan::loan) counts as filled already.
// A child wants no more than the tenants below it may have together. If nodes are gone and guarantees cannot all be
// met, they shrink in proportion.
//
// Rules. The shares of children add up to no more than their parent has. No slot is left while a tenant wants one that
// it may have, unless another does not lend it. Follows from its input alone; the names of tenants decide nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tidepool::core {

struct TenantNode {
  int parent = -1;  // index of an earlier node; -1 = directly under the pool
  int guarantee = 0;
  std::int64_t weight = 1;
  std::optional<int> borrow = std::nullopt;
  std::optional<int> lend = std::nullopt;
  int wanted = 0;   // slots; of nodes that have children it is worked out
  double loan = 0;  // slots held beyond the guarantee of late; likewise
  int before = 0;   // its newest entitlement
};

// By node, in slots. `slots`: what the pool has. Requires: each node stands after its parent.
[[nodiscard]] std::vector<int> entitlements(std::vector<TenantNode> nodes, int slots);

}  // namespace tidepool::core
