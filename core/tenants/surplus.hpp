// How the surplus of a level is divided among the children of one parent, where a policy file claims parts of it. The
// surplus is what is left once each child has what it is set aside (entitlement.hpp).
//
//   1. Each claim is met as far as its child can use it; claims that do not fit together, in proportion.
//   2. What claims leave goes by water level to the children with a weight and without a claim.
//   3. What these leave goes by water level to all; what a claim has given counts as filled.
//
// Rules. The sum is min(amount, sum of caps): claims leave no slot unused. Without any claim it is what fill() gives.
// A claim changes nothing of what children are set aside.
#pragma once

#include <optional>
#include <vector>

#include "core/tenants/water_level.hpp"

namespace tidepool::core {

using Claims = std::vector<std::optional<int>>;  // slots, by basin; none = the built-in rule decides

// By basin. Requires: as many claims as basins; amount and claims >= 0.
[[nodiscard]] std::vector<int> fill_by_claims(const std::vector<Basin>& basins, const Claims& claims, int amount);
// The same before slots are made whole.
[[nodiscard]] std::vector<double> fill_exactly_by_claims(const std::vector<Basin>& basins, const Claims& claims,
                                                         double amount);

}  // namespace tidepool::core
