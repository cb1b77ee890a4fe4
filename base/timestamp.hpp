// Times as the daemon writes them, in UTC. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tidepool {

// "2026-11-20T21:53:24.120Z" as microseconds since 1970; nothing for anything else.
[[nodiscard]] std::optional<std::int64_t> micros_of(std::string_view rfc3339);

}  // namespace tidepool
