// The tenants of a file or a request as the engine keeps them.
#pragma once

#include "api/v1/tenant_tree.hpp"
#include "core/state/tenants.hpp"

namespace tidepool::leader {

// Requires: a tree that read_tenant_tree() found no error in.
[[nodiscard]] core::TenantTree to_core(const api::v1::TenantTreeV1& file);

}  // namespace tidepool::leader
