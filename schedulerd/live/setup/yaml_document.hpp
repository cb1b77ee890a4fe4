// A YAML text as JSON: plain scalars are what the core schema of YAML 1.2 (section 10.3) says, quoted ones stay texts.
// Errors are sentences of what is wrong with the text, without the name of its file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.hpp"

namespace tidepool::live {

// Null for a text without a document.
[[nodiscard]] Result<nlohmann::json> read_yaml(const std::string& text);

}  // namespace tidepool::live
