// Pools in a policy's tests: their nodes, and the waiting demand, as the test states them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "policies/cluster/cluster_view.hpp"

namespace tidepool::policies::host {

// A list such as [{name: gpu, slots: 4, max: 8, nodes: 2}, ...]. Findings go to `errors`. By name.
[[nodiscard]] std::vector<cluster::PoolRow> read_pools(const nlohmann::json& list, const std::string& pointer,
                                                       std::vector<FieldError>& errors);

}  // namespace tidepool::policies::host
