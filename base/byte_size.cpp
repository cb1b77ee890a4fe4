#include "base/byte_size.hpp"

#include <array>
#include <charconv>
#include <cstdio>

namespace tidepool {
namespace {

struct ByteUnit {
  std::string_view name;
  std::int64_t bytes;
};
// Largest unit first.
constexpr std::array kByteUnits = {ByteUnit{"TiB", kMebibyte << 20U}, ByteUnit{"GiB", kMebibyte << 10U},
                                   ByteUnit{"MiB", kMebibyte}};

}  // namespace

Result<std::int64_t> parse_byte_size(std::string_view text) {
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  const std::string_view name(stop, static_cast<std::size_t>(end - stop));
  for (const ByteUnit& unit : kByteUnits) {
    if (error != std::errc{} || name != unit.name) continue;
    if (count >= 1 && count <= kBytesMax / unit.bytes) return count * unit.bytes;
  }
  return invalid_argument("\"" + std::string(text) +
                          "\" is no size from 1MiB to 1024TiB; write a whole number of MiB, GiB or TiB, such as 64GiB");
}

std::string byte_size_text(std::int64_t bytes) {
  for (const ByteUnit& unit : kByteUnits) {
    if (bytes != 0 && bytes % unit.bytes == 0) return std::to_string(bytes / unit.bytes) + std::string(unit.name);
  }
  return std::to_string(bytes) + " bytes";
}

std::string rounded_byte_size(std::int64_t bytes) {
  for (const ByteUnit& unit : kByteUnits) {
    if (bytes < unit.bytes) continue;
    if (bytes % unit.bytes == 0) return std::to_string(bytes / unit.bytes) + std::string(unit.name);
    std::array<char, 32> text{};
    const double count = static_cast<double>(bytes) / static_cast<double>(unit.bytes);
    (void)std::snprintf(text.data(), text.size(), "%.1f", count);
    return text.data() + std::string(unit.name);
  }
  return std::to_string(bytes) + " bytes";
}

}  // namespace tidepool
