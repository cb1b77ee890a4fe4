// The values in a file of tenants, each within its limits. An invalid value becomes a finding of the object that
// contains it; the returned value is then arbitrary. Private to tenant_file.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/json.hpp"
#include "base/time.hpp"
#include "core/money/budget.hpp"
#include "core/state/tenants.hpp"

namespace tidepool::leader {

// Above 0.
[[nodiscard]] Duration read_duration(ObjectReader& in, std::string_view field, Duration fallback);
// From 0s to a day.
[[nodiscard]] Duration read_delay(ObjectReader& in, std::string_view field);

// All of core::kTenantSettings.
void read_settings(ObjectReader& in, core::Tenant& tenant);

// From an object at `pointer`; none if it is null.
[[nodiscard]] std::optional<core::Budget> read_budget(const nlohmann::json& value, const std::string& pointer,
                                                      std::vector<FieldError>& errors);
[[nodiscard]] std::optional<core::ChurnLimit> read_churn(const nlohmann::json& value, const std::string& pointer,
                                                         std::vector<FieldError>& errors);

}  // namespace tidepool::leader
