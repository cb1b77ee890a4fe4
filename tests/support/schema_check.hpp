// Holds JSON against the schemas of api/openapi.yaml.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace tidepool::test {

// The served document, parsed once.
[[nodiscard]] const nlohmann::json& openapi();

// Empty if `value` fits the schema called `name` in components; else what does not fit, and where.
[[nodiscard]] std::string misfit(const nlohmann::json& value, const std::string& name);

}  // namespace tidepool::test
