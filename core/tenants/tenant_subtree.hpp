// A part of the tree of tenants: everything below one tenant. An admin of a tenant sets that part alone; the tenant's
// own row, and everything outside its subtree, is not theirs to change.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/state/tenants.hpp"

namespace tidepool::core {

// Each after its parent; empty if the tenant has none below it or does not exist.
[[nodiscard]] std::vector<Tenant> tenants_below(const TenantTree& tree, std::string_view above);

// The tree with `below` in place of everything below `above`. Requires: `above` exists; the parent of each tenant in
// `below` is `above` or an earlier tenant in `below`.
[[nodiscard]] TenantTree with_tenants_below(TenantTree tree, std::string_view above, const std::vector<Tenant>& below);

// Whether the tenants below `above` request no more than `above` itself may: no limit of a tenant is looser than the
// limit of the nearest tenant above that sets it, and together they keep no more slots from others than `above` does.
// Guarantees are checked with every tree (check_tenants).
[[nodiscard]] Status check_within(const TenantTree& tree, std::string_view above);

}  // namespace tidepool::core
