// The address of this node at which its workers meet those of other nodes: chosen by the operator, or the one from
// which the daemon is reached.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ip_network.hpp"
#include "base/result.hpp"

namespace tidepool::agent {

struct DataAddress {
  std::string host;
  std::string interface;  // that holds it; empty = not known
};

// Of the interfaces that are up; no link-local IPv6, which means something on one link only.
[[nodiscard]] std::vector<DataAddress> addresses_of_this_machine();

// `wanted` is an address of this machine, the name of an interface, or a network such as 10.0.0.0/16 (IpNetwork). Of an
// interface with one IPv4 address that one is taken; else it must have one address. The error says what there is.
[[nodiscard]] Result<DataAddress> choose_data_address(const std::string& wanted,
                                                      const std::vector<DataAddress>& present);

// Empty: none of them holds it.
[[nodiscard]] std::string interface_of(const std::string& host, const std::vector<DataAddress>& present);

// An error: `host` lies in one of the networks that are denied to jobs, so that workers could not meet there.
[[nodiscard]] Status check_not_denied(const std::string& host, const std::vector<IpNetwork>& denied);

// The data address that an agent has from one link to the daemon to the next.
class NodeAddress {
 public:
  // `fixed` empty: it is the one from which the daemon is reached.
  explicit NodeAddress(std::string fixed, std::vector<IpNetwork> denied = {})
      : fixed_(std::move(fixed)), denied_(std::move(denied)) {}

  // `link_host`: this node's end of the newest link. An error: no other worker can connect to it.
  [[nodiscard]] Status learn(const std::string& link_host);
  // Empty before the first link.
  [[nodiscard]] const std::string& host() const { return host_; }
  // With the interface that holds it at this moment.
  [[nodiscard]] DataAddress now() const { return {host_, interface_of(host_, addresses_of_this_machine())}; }

 private:
  const std::string fixed_;
  const std::vector<IpNetwork> denied_;  // to jobs
  std::string host_;
};

// Why the address that a worker tells its peers (api/comm_address.hpp) is none of a node at `host`; none: it is one, or
// names no host (NCCL's own). `host` empty: not known yet.
[[nodiscard]] std::optional<std::string> why_not_of_node(const std::string& blob, const std::string& host);

}  // namespace tidepool::agent
