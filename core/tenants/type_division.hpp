// How many slots of each type the jobs of each tenant that ask for types may have together, where they ask for more
// than there is. Jobs that take any type are no part of it: they can go elsewhere.
//
// In three steps, the first and the last for each set of types that some tenant's jobs ask for, the smaller sets first:
//   1. what each asks for, as far as guarantees of these types cover it, its own and those of tenants above it;
//   2. what tenants do not lend of guarantees is kept: of each type all but TenantNode::lend;
//   3. what is left of the types goes by water level, with the weights and loans of tenants (entitlement.hpp).
//
// Rules. The parts of a type add up to no more than there is; where guarantees are more than that, they shrink in
// proportion. Nothing that is not kept is left of a type while a tenant has less of a set with it than it asks for.
// Names decide nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "core/tenants/entitlement.hpp"

namespace tidepool::core {

// By type, in one order of all types.
using SlotsByType = std::vector<int>;

// What jobs of one tenant that ask for the same types could use together.
struct TypeAsk {
  std::size_t leaf = 0;    // its place among the nodes
  std::vector<int> types;  // ascending, at least one
  int wanted = 0;          // slots
};

struct TypedTree {
  const std::vector<TenantNode>& nodes;        // of which parent, weight, lend and loan are read
  const std::vector<SlotsByType>& guarantees;  // by node
  const std::vector<SlotsByType>& held;        // by leaf, for good: they are of its guarantee and none of `slots`
};

// By node; of inner ones as the sum of those below them. `slots`: what can be divided.
[[nodiscard]] std::vector<SlotsByType> divide_types(const TypedTree& tree, const SlotsByType& slots,
                                                    const std::vector<TypeAsk>& asks);

}  // namespace tidepool::core
