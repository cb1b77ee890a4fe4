// How the surplus of a level is divided among the children of one parent, if a policy file claims parts of it. The
// surplus is what is left once each child has the slots set aside for it (entitlement.hpp).
//
//   1. Each claim is met as far as its child can use it; if the claims exceed the surplus, in proportion.
//   2. What claims leave goes by water level to the children with a weight and without a claim.
//   3. What these leave goes by water level to all; slots given by a claim count as filled.
//
// Rules. The sum is min(amount, sum of caps): claims leave no slot unused. Without any claim the result is that of
// fill(). A claim does not change the slots set aside for children.
#pragma once

#include <optional>
#include <vector>

#include "core/tenants/water_level.hpp"

namespace tidepool::core {

using Claims = std::vector<std::optional<int>>;  // slots, by basin; none = the built-in rule decides

// By basin. Requires: as many claims as basins; amount and claims >= 0.
[[nodiscard]] std::vector<int> fill_by_claims(const std::vector<Basin>& basins, const Claims& claims, int amount);
// The same before rounding to whole slots.
[[nodiscard]] std::vector<double> fill_exactly_by_claims(const std::vector<Basin>& basins, const Claims& claims,
                                                         double amount);

}  // namespace tidepool::core
