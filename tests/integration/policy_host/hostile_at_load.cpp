// A library that misbehaves while it is being loaded, before anybody has called it.
#include <sys/socket.h>

#include <cstdint>

#include "policies/host/tidepool_policy.h"

namespace {

const int kConnected = socket(AF_INET, SOCK_STREAM, 0);

}  // namespace

extern "C" const tidepool_policy* tidepool_policy_v1(std::uint32_t) {
  return kConnected > 0 ? nullptr : nullptr;
}
