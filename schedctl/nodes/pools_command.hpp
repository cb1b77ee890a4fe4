// schedctl pools: the pools, the nodes that were asked for, and under them what providers have failed at.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "schedctl/words.hpp"

namespace tidepool::ctl {

[[nodiscard]] std::string pools_page(const nlohmann::json& pools, const Style& style);

}  // namespace tidepool::ctl
