// The address of this node on which its workers connect with workers of other nodes: chosen by the operator, or the
// address from which the node reaches the daemon.
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
  std::string interface;  // that has the address; empty = not known
};

// Addresses of the interfaces that are up; without link-local IPv6, which is valid on one link only.
[[nodiscard]] std::vector<DataAddress> addresses_of_this_machine();

// `wanted` is an address of this machine, the name of an interface, or a network such as 10.0.0.0/16 (IpNetwork). For
// an interface with exactly one IPv4 address that address is used; any other interface must have exactly one address.
// The error lists what is there.
[[nodiscard]] Result<DataAddress> choose_data_address(const std::string& wanted,
                                                      const std::vector<DataAddress>& present);

// Empty: no interface has the address.
[[nodiscard]] std::string interface_of(const std::string& host, const std::vector<DataAddress>& present);

// An error if `host` is in one of the networks that are denied to jobs, so that workers could not connect there.
[[nodiscard]] Status check_not_denied(const std::string& host, const std::vector<IpNetwork>& denied);

// The data address of an agent, across links to the daemon.
class NodeAddress {
 public:
  // `fixed` empty: the address is the one from which the node reaches the daemon.
  explicit NodeAddress(std::string fixed, std::vector<IpNetwork> denied = {})
      : fixed_(std::move(fixed)), denied_(std::move(denied)) {}

  // `link_host`: this node's end of the newest link. An error: no other worker can connect to that address.
  [[nodiscard]] Status learn(const std::string& link_host);
  // Empty before the first link.
  [[nodiscard]] const std::string& host() const { return host_; }
  // With the interface that has the address at this moment.
  [[nodiscard]] DataAddress now() const { return {host_, interface_of(host_, addresses_of_this_machine())}; }

 private:
  const std::string fixed_;
  const std::vector<IpNetwork> denied_;  // to jobs
  std::string host_;
};

// Why the address that a worker sends to its peers (api/comm_address.hpp) does not belong to a node at `host`. None: it
// does, or it names no host (NCCL's own). `host` empty: not known yet.
[[nodiscard]] std::optional<std::string> why_not_of_node(const std::string& blob, const std::string& host);

}  // namespace tidepool::agent
