// A part of the tree of tenants: what lies below one of them. An admin of a tenant sets that part alone; the tenant's
// own row, and all that lies beside it, is not theirs.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/state/tenants.hpp"

namespace tidepool::core {

// Each after its parent; empty if the tenant has none below it or does not exist.
[[nodiscard]] std::vector<Tenant> tenants_below(const TenantTree& tree, std::string_view above);

// The tree with `below` in the place of what lies below `above`. Requires: `above` exists; each of `below` has as its
// parent `above` or one before it.
[[nodiscard]] TenantTree with_tenants_below(TenantTree tree, std::string_view above, const std::vector<Tenant>& below);

// Whether what lies below `above` asks for no more than `above` itself may: no limit of a tenant is looser than the
// nearest one above it, and together they keep no more slots from others than `above` does. Guarantees are checked with
// every tree (check_tenants).
[[nodiscard]] Status check_within(const TenantTree& tree, std::string_view above);

}  // namespace tidepool::core
