// Networks as people write them: "10.0.0.0/8", "fd00:ec2::/32", or one address. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tidepool {

struct IpNetwork {
  std::array<std::uint8_t, 16> address{};  // as an IPv6 address; IPv4 as ::ffff:a.b.c.d; zero after the prefix
  int prefix = 128;                        // bits of `address`; 96 or more for IPv4
  bool v4 = false;

  // The error says what to write.
  [[nodiscard]] static Result<IpNetwork> parse(const std::string& text);
  // Whether this network contains all of `other`; always false for different address families.
  [[nodiscard]] bool holds(const IpNetwork& other) const;
  bool operator==(const IpNetwork&) const = default;
};

// The most networks that an agent can deny to jobs: this number fits into one check in the kernel.
inline constexpr std::size_t kDeniedNetworksMax = 64;

// The first network that contains all of `other`; null: there is none.
[[nodiscard]] const IpNetwork* holder_of(const IpNetwork& other, const std::vector<IpNetwork>& networks);

// In the notation of its family, always with the prefix: "10.0.0.0/8".
[[nodiscard]] std::string to_text(const IpNetwork& network);

}  // namespace tidepool
