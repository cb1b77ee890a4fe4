// What a worker tells the others before they connect: which transports it has, and where it is to be found on each. All
// ranks see the same addresses, so all come to the same choice without another message.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tidepool::runtime {

struct CommAddress {
  struct Nccl {
    int version = 0;  // 22809 = 2.28.9
    std::string id;   // of rank 0, else empty
  };
  std::optional<Nccl> nccl;
  std::optional<std::string> gloo;

  [[nodiscard]] std::string encode() const;
  [[nodiscard]] static Result<CommAddress> decode(const std::string& blob);
};

enum class Transport { kGloo, kNccl };

// NCCL if every rank has the same version of it, else Gloo if every rank has that. `addresses` in rank order.
struct AgreedTransport {
  Transport transport = Transport::kGloo;
  std::string why_not_nccl;  // empty if it is NCCL, or if no rank has it
};
[[nodiscard]] Result<AgreedTransport> agree_on_transport(const std::vector<CommAddress>& addresses);

}  // namespace tidepool::runtime
