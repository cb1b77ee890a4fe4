// The tenants that share a pool, as a file or a request states them: nested, strict to read, and given as the engine
// keeps them. docs/fairness.md says what the fields mean.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/json.hpp"
#include "core/state/tenants.hpp"

namespace tidepool::leader {

// Reads {half_life, rebalance_every, preempt_after, churn, tenants: [{name, guarantee, ..., tenants: [...]}]}; on
// failure every finding with its JSON pointer: unknown fields, wrong types, names twice, guarantees that do not add up.
struct TenantTreeFindings {
  std::vector<FieldError> errors;  // empty = tree is good
  core::TenantTree tree;           // each tenant after its parent
};
[[nodiscard]] TenantTreeFindings read_tenant_tree(const nlohmann::json& document);
// Reads {tenants: [...]}: those that are to lie below the tenant `above`.
[[nodiscard]] TenantTreeFindings read_tenants_below(const nlohmann::json& document, const std::string& above);

}  // namespace tidepool::leader
