// The API's own description: api/openapi.yaml, embedded when the program is built.
#pragma once

#include <string>

namespace tidepool::live::http {

// As JSON; converted at the first call.
[[nodiscard]] const std::string& openapi_json();

}  // namespace tidepool::live::http
