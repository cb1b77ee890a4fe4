// How two trees of tenants differ, field by field, as JSON. Pure.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "core/state/tenants.hpp"
#include "schedulerd/live/http/server/problem.hpp"

namespace tidepool::live::http {

// The tenant's fields but its name, as files call them; null = none.
[[nodiscard]] nlohmann::json tenant_settings(const core::Tenant& tenant);

// What counts for all of them: the fields of the file beside `tenants`.
[[nodiscard]] nlohmann::json tree_settings(const core::TenantTree& tree);

// A tenant that does not exist, or that the caller may not see.
[[nodiscard]] Problem unknown_tenant(const std::string& name);

// Another one for another tree; with its quotes.
[[nodiscard]] std::string tenants_etag(const core::TenantTree& tree);

// As settings_changes.hpp has it. Tenant null: of all of them.
[[nodiscard]] nlohmann::json tenant_changes(const core::TenantTree& before, const core::TenantTree& after);

}  // namespace tidepool::live::http
