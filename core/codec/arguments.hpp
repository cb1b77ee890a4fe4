// The arguments of a trainer as a JSON object, and back.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "core/state/job_spec.hpp"

namespace tidepool::core {

[[nodiscard]] nlohmann::json arguments_to_json(const Arguments& arguments);
[[nodiscard]] Result<Arguments> arguments_from_json(const nlohmann::json& value);

}  // namespace tidepool::core
