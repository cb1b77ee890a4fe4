// Bytes as text and back (RFC 4648 section 4, with padding). Strict: decode accepts only what encode
// writes, so one value has one text; blanks, line breaks and loose bits are refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidepool::api {

[[nodiscard]] std::string encode_base64(std::string_view bytes);

// Nothing if `text` is not the exact encoding of some bytes.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace tidepool::api
