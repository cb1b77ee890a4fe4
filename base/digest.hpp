// A 64-bit fingerprint for "is this the same state?" questions (FNV-1a). Not for security.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidepool {

// Sixteen lower-case hexadecimal digits.
[[nodiscard]] inline std::string hex_of(std::uint64_t number) {
  std::string hex(16, '0');
  for (std::size_t i = 0; i < 16; ++i) hex[i] = "0123456789abcdef"[(number >> (60 - 4 * i)) & 0xfU];
  return hex;
}

class Digest {
 public:
  constexpr Digest& mix(std::string_view bytes) {
    for (const char c : bytes) mix_byte(static_cast<unsigned char>(c));
    return mix_byte(0xff);  // so that "ab","c" and "a","bc" differ
  }

  // Eight bytes, lowest first. A byte of 0 only multiplies, so the zero bytes at the high end are mixed in by one
  // multiplication: most numbers are small.
  constexpr Digest& mix(std::uint64_t number) {
    std::size_t zeros = 8;
    for (; number != 0; number >>= 8U, --zeros) mix_byte(static_cast<unsigned char>(number));
    hash_ *= kPowers[zeros];
    return *this;
  }

  [[nodiscard]] constexpr std::uint64_t value() const { return hash_; }

  [[nodiscard]] std::string text() const { return hex_of(hash_); }

 private:
  static constexpr std::uint64_t kPrime = 0x100000001b3ULL;
  static constexpr std::array<std::uint64_t, 9> kPowers = [] {
    std::array<std::uint64_t, 9> powers{1};
    for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * kPrime;
    return powers;
  }();

  constexpr Digest& mix_byte(unsigned char byte) {
    hash_ = (hash_ ^ byte) * kPrime;
    return *this;
  }

  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace tidepool
