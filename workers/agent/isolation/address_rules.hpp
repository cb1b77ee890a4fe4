// Which addresses a job's programs may not reach, as instructions for the kernel's own checks of connect() and
// sendto() in a control group. Pure; address_filter.hpp gives them to the kernel.
#pragma once

#include <linux/bpf.h>

#include <vector>

#include "base/ip_network.hpp"

namespace tidepool::agent {

struct AddressRules {
  bool metadata = true;           // deny what metadata_addresses() has, on every port but that of DNS
  std::vector<IpNetwork> denied;  // on every port; with 127.0.0.1 or ::1 also 0.0.0.0 and ::, which lead there
};

// Where clouds give out a machine's credentials. Some of these addresses are also the resolver of the machine's names.
[[nodiscard]] const std::vector<IpNetwork>& metadata_addresses();

using BpfCode = std::vector<bpf_insn>;

// Of a struct bpf_sock_addr with an IPv4 or an IPv6 address; 0: denied, 1: allowed.
[[nodiscard]] BpfCode ipv4_check(const AddressRules& rules);
[[nodiscard]] BpfCode ipv6_check(const AddressRules& rules);
// Of a struct bpf_sock that is made: protocols whose connections the other checks do not see (SCTP) are denied.
[[nodiscard]] BpfCode socket_check();

}  // namespace tidepool::agent
