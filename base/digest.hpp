// A 64-bit fingerprint for "is this the same state?" questions (FNV-1a). Not for security.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tidepool {

class Digest {
 public:
  constexpr Digest& mix(std::string_view bytes) {
    for (const char c : bytes) mix_byte(static_cast<unsigned char>(c));
    return mix_byte(0xff);  // so that "ab","c" and "a","bc" differ
  }

  constexpr Digest& mix(std::uint64_t number) {
    for (unsigned shift = 0; shift < 64; shift += 8) mix_byte(static_cast<unsigned char>(number >> shift));
    return *this;
  }

  [[nodiscard]] constexpr std::uint64_t value() const { return hash_; }

  // Sixteen lower-case hexadecimal digits.
  [[nodiscard]] std::string text() const {
    std::string hex(16, '0');
    for (std::size_t i = 0; i < 16; ++i) hex[i] = "0123456789abcdef"[(hash_ >> (60 - 4 * i)) & 0xfU];
    return hex;
  }

 private:
  constexpr Digest& mix_byte(unsigned char byte) {
    hash_ = (hash_ ^ byte) * 0x100000001b3ULL;
    return *this;
  }

  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace tidepool
