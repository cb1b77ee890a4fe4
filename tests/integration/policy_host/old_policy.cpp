// Native policies of version 1: with TIDEPOOL_ACT = 1 as it was built then, with 2 renamed but not built anew.
#include <cstdint>

#include "policies/host/tidepool_policy.h"

namespace {

const tidepool_policy kPolicy{.abi = 1,
                              .size = sizeof(tidepool_policy),
                              .name = "old",
                              .admit = nullptr,
                              .order = nullptr,
                              .sizes = nullptr,
                              .marks = nullptr,
                              .pool = nullptr};

}  // namespace

#if TIDEPOOL_ACT == 1
extern "C" const tidepool_policy* tidepool_policy_v1(std::uint32_t) {
#else
extern "C" const tidepool_policy* tidepool_policy_v2(std::uint32_t) {
#endif
  return &kPolicy;
}
