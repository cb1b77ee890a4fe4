// Sizes of memory and files as people write them: a whole number and a binary unit, such as "64GiB" or "512MiB".
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tidepool {

inline constexpr std::int64_t kMebibyte = std::int64_t{1} << 20U;
inline constexpr std::int64_t kBytesMax = std::int64_t{1} << 50U;  // 1 PiB; exact in a double, like all below it

// MiB, GiB or TiB, from 1MiB to 1024TiB. The error states this range.
[[nodiscard]] Result<std::int64_t> parse_byte_size(std::string_view text);

// Uses the largest unit in which the size is a whole number: "64GiB", "1536MiB". The result of parse_byte_size() is
// reproduced exactly.
[[nodiscard]] std::string byte_size_text(std::int64_t bytes);

// For people: "64GiB", or with one decimal if the size is not a whole number of its unit: "14.1GiB".
[[nodiscard]] std::string rounded_byte_size(std::int64_t bytes);

}  // namespace tidepool
