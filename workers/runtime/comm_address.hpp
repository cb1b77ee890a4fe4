// Chooses the transport for the workers of a generation. All ranks see the same addresses, so all make the same choice
// without another message.
#pragma once

#include <string>
#include <vector>

#include "api/comm_address.hpp"
#include "base/result.hpp"

namespace tidepool::runtime {

using api::CommAddress;

enum class Transport { kGloo, kNccl };

// NCCL if every rank has the same NCCL version, else Gloo if every rank has Gloo. `addresses` are in rank order.
struct AgreedTransport {
  Transport transport = Transport::kGloo;
  std::string why_not_nccl;  // empty if NCCL was chosen, or if no rank has NCCL
};
[[nodiscard]] Result<AgreedTransport> agree_on_transport(const std::vector<CommAddress>& addresses);

}  // namespace tidepool::runtime
