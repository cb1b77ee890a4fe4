// Tenants in a test that a policy's author writes: the tenants of its cluster, what its jobs want and hold of each, and
// the result of the built-in rule for the claims that the policy answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "policies/cluster/cluster_view.hpp"

namespace tidepool::policies::host {

// A list such as [{name: vision, guarantee: 2, weight: 3}, ...], each after its parent. Findings go to `errors`; the
// rows must then not be used.
[[nodiscard]] std::vector<cluster::TenantRow> read_tenants(const nlohmann::json& list, const std::string& pointer,
                                                           std::vector<FieldError>& errors);

// Each leaf wants the most that its jobs may have, and holds what they hold. Returns the first job, if any, that
// belongs to no leaf. Without tenants nothing is shared, and jobs may belong to any.
[[nodiscard]] std::optional<std::size_t> add_jobs_to_tenants(cluster::View& view);

// Slots that each tenant is entitled to with these claims (core/tenants/entitlement.hpp), by row; empty = no claims.
[[nodiscard]] std::vector<int> entitled(const cluster::View& view, const std::vector<std::optional<int>>& claims);

}  // namespace tidepool::policies::host
