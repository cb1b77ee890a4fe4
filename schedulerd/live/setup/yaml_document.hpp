// A YAML text of the daemon's own files as JSON, without the lines on which its fields stand.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.hpp"

namespace tidepool::live {

// As tidepool::read_yaml(): null for a text without a document.
[[nodiscard]] Result<nlohmann::json> read_yaml(const std::string& text);

}  // namespace tidepool::live
