// schedctl pools: the pools, the nodes that were asked for, and under them what providers have failed at. And what is
// said where there are no nodes: what the pools are doing about it.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "schedctl/words.hpp"

namespace tidepool::ctl {

[[nodiscard]] std::string pools_page(const nlohmann::json& pools, const Style& style);
// Of a daemon without any node; `pools` as GET /v1/pools lists them.
[[nodiscard]] std::string no_nodes_page(const nlohmann::json& pools, const Style& style);

}  // namespace tidepool::ctl
