#include "workers/agent/data_address.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <cstring>

#include "api/comm_address.hpp"

namespace tidepool::agent {
namespace {

namespace ip = boost::asio::ip;
using boost::system::error_code;

std::optional<ip::address> address_of(const std::string& text) {
  error_code failed;
  const auto address = ip::make_address(text, failed);
  return failed ? std::nullopt : std::optional(address);
}

// None: it is not an IP address, or it is valid on a single link only.
std::optional<ip::address> address_of(const sockaddr* socket) {
  if (socket == nullptr) return std::nullopt;
  if (socket->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, socket, sizeof v4);
    return ip::address_v4(ntohl(v4.sin_addr.s_addr));
  }
  if (socket->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, socket, sizeof v6);
  ip::address_v6::bytes_type bytes{};
  std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
  const ip::address_v6 address(bytes);
  return address.is_link_local() ? std::nullopt : std::optional<ip::address>(address);
}

std::string list(const std::vector<DataAddress>& addresses) {
  std::string text;
  for (const auto& each : addresses) {
    text += (text.empty() ? "" : ", ") + each.host + (each.interface.empty() ? "" : " (" + each.interface + ")");
  }
  return text.empty() ? "none" : text;
}

template <class Matches>
std::vector<DataAddress> those(const std::vector<DataAddress>& present, Matches matches) {
  std::vector<DataAddress> found;
  std::copy_if(present.begin(), present.end(), std::back_inserter(found), matches);
  return found;
}

// The addresses in the network; an error: the text is not a network.
Result<std::vector<DataAddress>> in_network(const std::string& text, const std::vector<DataAddress>& present) {
  const auto network = IpNetwork::parse(text);
  if (!network) return network.error();
  return those(present, [&](const DataAddress& each) {
    const auto address = IpNetwork::parse(each.host);
    return address && network->holds(*address);
  });
}

Error with_flag(const std::string& why) {
  return invalid_argument("--data-address: " + why);
}

}  // namespace

std::vector<DataAddress> addresses_of_this_machine() {
  std::vector<DataAddress> found;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return found;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    const auto address = address_of(each->ifa_addr);
    if (address && (each->ifa_flags & IFF_UP) != 0) found.push_back({address->to_string(), each->ifa_name});
  }
  ::freeifaddrs(first);
  return found;
}

Result<DataAddress> choose_data_address(const std::string& wanted, const std::vector<DataAddress>& present) {
  if (const auto address = address_of(wanted)) {
    const auto same = those(present, [&](const DataAddress& each) { return address_of(each.host) == address; });
    if (!same.empty()) return same.front();
    return with_flag(wanted + " is no address of this machine; it has " + list(present));
  }
  if (wanted.find('/') != std::string::npos) {
    const auto inside = in_network(wanted, present);
    if (!inside) return with_flag(inside.error().message);
    if (inside->size() == 1) return inside->front();
    if (inside->empty()) return with_flag("no address of this machine is in " + wanted + "; it has " + list(present));
    return with_flag(wanted + " holds several addresses of this machine, name one: " + list(*inside));
  }
  const auto held = those(present, [&](const DataAddress& each) { return each.interface == wanted; });
  if (held.empty()) {
    return with_flag("no interface \"" + wanted + "\" is up with an address that others can reach; this machine has " +
                     list(present));
  }
  const auto v4 = those(held, [](const DataAddress& each) { return address_of(each.host)->is_v4(); });
  if (v4.size() == 1) return v4.front();
  if (v4.empty() && held.size() == 1) return held.front();
  return with_flag("interface " + wanted + " has several addresses, name one: " + list(held));
}

std::string interface_of(const std::string& host, const std::vector<DataAddress>& present) {
  const auto found =
      std::find_if(present.begin(), present.end(), [&](const DataAddress& each) { return each.host == host; });
  return found == present.end() ? "" : found->interface;
}

Status check_not_denied(const std::string& host, const std::vector<IpNetwork>& denied) {
  const auto address = IpNetwork::parse(host);
  const IpNetwork* network = address ? holder_of(*address, denied) : nullptr;
  if (network == nullptr) return ok_status();
  return invalid_argument("--deny-address " + to_text(*network) + " holds this node's own data address " + host +
                          ", at which its workers meet; deny smaller networks without it, or name another address " +
                          "with --data-address");
}

Status NodeAddress::learn(const std::string& link_host) {
  const std::string host = fixed_.empty() ? link_host : fixed_;
  if (!api::is_host_address(host)) {
    return invalid_argument("this node reaches the daemon from " + host + ", at which workers of other nodes cannot " +
                            "connect; name another address with --data-address");
  }
  TP_TRY(check_not_denied(host, denied_));
  if (!host_.empty() && host_ != host) {
    spdlog::warn(
        "this node's data address was {} and is {} now: older workers are replaced when their job changes size", host_,
        host);
  }
  host_ = host;
  return ok_status();
}

std::optional<std::string> why_not_of_node(const std::string& blob, const std::string& host) {
  const auto address = api::CommAddress::decode(blob);
  if (!address) return "it is " + address.error().message;
  if (!address->gloo || host.empty() || address->gloo->host == host) return std::nullopt;
  return address->gloo->host + " is not this node's data address " + host;
}

}  // namespace tidepool::agent
