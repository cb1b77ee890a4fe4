#include "base/ip_network.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>

#include "base/number_text.hpp"

namespace tidepool {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr int kMappedBits = 96;

std::optional<IpNetwork> host_of(const std::string& text) {
  IpNetwork host;
  if (::inet_pton(AF_INET6, text.c_str(), host.address.data()) == 1) return host;
  if (::inet_pton(AF_INET, text.c_str(), host.address.data() + kMapped.size()) != 1) return std::nullopt;
  std::copy(kMapped.begin(), kMapped.end(), host.address.begin());
  host.v4 = true;
  return host;
}

std::optional<int> prefix_of(const std::string& text, bool v4) {
  const int bits = parse_number<int>(text).value_or(-1);
  if (bits < 0 || bits > (v4 ? 32 : 128)) return std::nullopt;
  return v4 ? kMappedBits + bits : bits;
}

// Sets the bits after the prefix to zero.
IpNetwork masked(IpNetwork network) {
  for (std::size_t byte = 0; byte < network.address.size(); ++byte) {
    const int kept = std::clamp(network.prefix - static_cast<int>(byte) * 8, 0, 8);
    network.address[byte] &= static_cast<std::uint8_t>(0xff00U >> static_cast<unsigned>(kept));
  }
  return network;
}

}  // namespace

Result<IpNetwork> IpNetwork::parse(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto host = host_of(text.substr(0, slash));
  if (!host) {
    return invalid_argument("\"" + text +
                            "\" is no IP address or network; write it as 10.0.0.0/8, 10.1.2.3, fd00::/8 or fd00::1");
  }
  if (!host->v4 && std::equal(kMapped.begin(), kMapped.end(), host->address.begin())) {
    return invalid_argument("\"" + text + "\" is an IPv4 address in the form of IPv6; write it as 10.1.2.3");
  }
  if (slash == std::string::npos) return *host;
  const auto prefix = prefix_of(text.substr(slash + 1), host->v4);
  if (!prefix) {
    return invalid_argument("\"" + text + "\" has no prefix from 0 to " + (host->v4 ? "32" : "128") +
                            " behind its slash; write it as " + (host->v4 ? "10.0.0.0/8" : "fd00::/8"));
  }
  IpNetwork network = *host;
  network.prefix = *prefix;
  const IpNetwork whole = masked(network);
  if (whole == network) return network;
  return invalid_argument("\"" + text + "\" has host bits set; write " + to_text(whole) + " for the network, or " +
                          text.substr(0, slash) + " for the address");
}

bool IpNetwork::holds(const IpNetwork& other) const {
  if (v4 != other.v4 || prefix > other.prefix) return false;
  IpNetwork around = other;
  around.prefix = prefix;
  return masked(around) == *this;
}

const IpNetwork* holder_of(const IpNetwork& other, const std::vector<IpNetwork>& networks) {
  const auto found =
      std::find_if(networks.begin(), networks.end(), [&](const IpNetwork& each) { return each.holds(other); });
  return found == networks.end() ? nullptr : &*found;
}

std::string to_text(const IpNetwork& network) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const std::uint8_t* from = network.address.data() + (network.v4 ? kMapped.size() : 0);
  ::inet_ntop(network.v4 ? AF_INET : AF_INET6, from, text.data(), text.size());
  return std::string(text.data()) + "/" + std::to_string(network.v4 ? network.prefix - kMappedBits : network.prefix);
}

}  // namespace tidepool
