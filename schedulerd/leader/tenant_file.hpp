// The tree of tenants in a file or a request: nested, read strictly, and converted for the engine. docs/fairness.md
// explains the fields.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/json.hpp"
#include "core/state/tenants.hpp"

namespace tidepool::leader {

// Reads {half_life, rebalance_every, preempt_after, churn, tenants: [{name, guarantee, ..., tenants: [...]}]}; on
// failure returns every finding with its JSON pointer: unknown fields, wrong types, duplicate names, guarantees that do
// not add up.
struct TenantTreeFindings {
  std::vector<FieldError> errors;  // empty = the tree is valid
  core::TenantTree tree;           // each tenant after its parent
};
[[nodiscard]] TenantTreeFindings read_tenant_tree(const nlohmann::json& document);
// Reads {tenants: [...]}: the tenants below the tenant `above`.
[[nodiscard]] TenantTreeFindings read_tenants_below(const nlohmann::json& document, const std::string& above);

}  // namespace tidepool::leader
