// Entity tags as conditions list them (RFC 9110, section 8.8.3): "*", or tags in quotes joined by commas.
#pragma once

#include <string_view>

namespace tidepool::live::http {

// Not one that is malformed, or empty.
[[nodiscard]] bool is_tag_list(std::string_view text);
// Whether a list names this ETag, as "*" does. `weakly`: W/"x" is as good as "x", else it never counts. A malformed
// list names none.
[[nodiscard]] bool names_tag(std::string_view list, std::string_view etag, bool weakly);

}  // namespace tidepool::live::http
