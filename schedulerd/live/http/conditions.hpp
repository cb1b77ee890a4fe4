// If-Match and If-None-Match (RFC 9110, section 13.1). Several such headers are one list.
#pragma once

#include <optional>
#include <string_view>

#include "schedulerd/live/http/server/http_message.hpp"
#include "schedulerd/live/http/server/problem.hpp"

namespace tidepool::live::http {

// Complains of such a header that is neither, or empty.
[[nodiscard]] std::optional<Problem> check_conditions(const HttpRequest& request);

// Whether what has this ETag now may be changed: by "*", by its tag, or without If-Match. A weak tag never matches.
[[nodiscard]] bool if_match_holds(const HttpRequest& request, std::string_view etag);
// Not only that there is something, as "*" does.
[[nodiscard]] bool if_match_names_tags(const HttpRequest& request);

// By If-None-Match; a weak tag is as good as a strong one.
[[nodiscard]] bool has_already(const HttpRequest& request, std::string_view etag);

}  // namespace tidepool::live::http
