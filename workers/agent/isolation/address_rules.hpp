// The addresses that a job's programs must not reach, as instructions for the kernel's checks of connect() and sendto()
// in a control group. Pure; address_filter.hpp loads them into the kernel.
#pragma once

#include <linux/bpf.h>

#include <vector>

#include "base/ip_network.hpp"

namespace tidepool::agent {

struct AddressRules {
  bool metadata = true;           // deny metadata_addresses(), on every port except the DNS port
  std::vector<IpNetwork> denied;  // on every port; 127.0.0.1 or ::1 also denies 0.0.0.0 and ::, which lead there
};

// Addresses at which clouds give out a machine's credentials. Some of them are also the machine's DNS resolver.
[[nodiscard]] const std::vector<IpNetwork>& metadata_addresses();

using BpfCode = std::vector<bpf_insn>;

// Checks a struct bpf_sock_addr with an IPv4 or an IPv6 address; result 0: denied, 1: allowed.
[[nodiscard]] BpfCode ipv4_check(const AddressRules& rules);
[[nodiscard]] BpfCode ipv6_check(const AddressRules& rules);
// Checks a struct bpf_sock when the socket is created: denies protocols whose connections the other checks do not see
// (SCTP).
[[nodiscard]] BpfCode socket_check();

}  // namespace tidepool::agent
