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
  std::array<std::uint8_t, 16> address{};  // as an IPv6 address; IPv4 as ::ffff:a.b.c.d; zero behind the prefix
  int prefix = 128;                        // bits of `address`; of IPv4 96 or more
  bool v4 = false;

  // The error says what to write.
  [[nodiscard]] static Result<IpNetwork> parse(const std::string& text);
  // Whether all of `other` lies in it; never across families.
  [[nodiscard]] bool holds(const IpNetwork& other) const;
  bool operator==(const IpNetwork&) const = default;
};

// That an agent can deny to jobs: so many fit into a check of the kernel's.
inline constexpr std::size_t kDeniedNetworksMax = 64;

// The first of them in which all of `other` lies; null: there is none.
[[nodiscard]] const IpNetwork* holder_of(const IpNetwork& other, const std::vector<IpNetwork>& networks);

// As the family writes it, always with the prefix: "10.0.0.0/8".
[[nodiscard]] std::string to_text(const IpNetwork& network);

}  // namespace tidepool
