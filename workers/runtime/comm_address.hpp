// Which transport the workers of a generation take. All ranks see the same addresses, so all come to the same choice
// without another message.
#pragma once

#include <string>
#include <vector>

#include "api/comm_address.hpp"
#include "base/result.hpp"

namespace tidepool::runtime {

using api::CommAddress;

enum class Transport { kGloo, kNccl };

// NCCL if every rank has the same version of it, else Gloo if every rank has that. `addresses` in rank order.
struct AgreedTransport {
  Transport transport = Transport::kGloo;
  std::string why_not_nccl;  // empty if it is NCCL, or if no rank has it
};
[[nodiscard]] Result<AgreedTransport> agree_on_transport(const std::vector<CommAddress>& addresses);

}  // namespace tidepool::runtime
