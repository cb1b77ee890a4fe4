// Times as the daemon writes them, in UTC. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidepool {

// "2026-11-20T21:53:24.120Z", or +00:00 instead of Z, as microseconds since 1970; nothing for any other text.
[[nodiscard]] std::optional<std::int64_t> micros_of(std::string_view rfc3339);
// "2026-12-01T00:00:00Z".
[[nodiscard]] std::string timestamp_text(std::int64_t unix_seconds);

}  // namespace tidepool
