// How many slots of each type the jobs of each tenant that request types may have together, if they request more than
// there is. Jobs that accept any type are not included: they can run elsewhere.
//
// In three steps, the first and the last for each set of types that some tenant's jobs request, the smaller sets first:
//   1. each tenant gets what it requests, as far as guarantees of these types cover it, its own and those of tenants
//      above it;
//   2. the guarantees that tenants do not lend are kept: of each type all but TenantNode::lend;
//   3. what is left of the types goes by water level, with the weights and loans of tenants (entitlement.hpp).
//
// Rules. The parts of a type add up to no more than there is; where guarantees exceed that, they shrink in proportion.
// Apart from what is kept, nothing of a type is left over while a tenant has less of a set with that type than it
// requests. Names have no effect.
#pragma once

#include <cstddef>
#include <vector>

#include "core/tenants/entitlement.hpp"

namespace tidepool::core {

// By type, in one order of all types.
using SlotsByType = std::vector<int>;

// What a tenant's jobs that request the same types could use together.
struct TypeAsk {
  std::size_t leaf = 0;    // its index among the nodes
  std::vector<int> types;  // ascending, at least one
  int wanted = 0;          // slots
};

struct TypedTree {
  const std::vector<TenantNode>& nodes;        // their parent, weight, lend and loan are read
  const std::vector<SlotsByType>& guarantees;  // by node
  const std::vector<SlotsByType>& held;        // by leaf, permanently: part of its guarantee and not of `slots`
};

// By node; for inner nodes the sum of the nodes below. `slots`: slots that can be divided.
[[nodiscard]] std::vector<SlotsByType> divide_types(const TypedTree& tree, const SlotsByType& slots,
                                                    const std::vector<TypeAsk>& asks);

}  // namespace tidepool::core
