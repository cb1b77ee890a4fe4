// The API's own description: api/openapi.yaml, embedded when the program is built.
#pragma once

#include <string>
#include <vector>

namespace tidepool::live::http {

// As JSON; converted at the first call.
[[nodiscard]] const std::string& openapi_json();

// Its EventType, in its order.
[[nodiscard]] const std::vector<std::string>& event_types();

}  // namespace tidepool::live::http
