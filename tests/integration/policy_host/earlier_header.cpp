// A native policy of version 2 as the first header of that version had it built: its description and the view that it
// knows end before what was added since, and behind the description lies something else.
#include <cstdint>

#include "policies/host/tidepool_policy.h"

namespace {

struct EarlierPolicy {
  std::uint32_t abi;
  std::uint32_t size;
  const char* name;
  tidepool_hook admit, order, sizes, marks, pool;
};

int sizes(const tidepool_view* view, const tidepool_host*, double* answer) {
  for (std::uint32_t i = 0; i < view->jobs; ++i) answer[i] = 2;
  return 0;
}

struct {
  EarlierPolicy policy;
  std::uintptr_t behind;
} const kBuilt{{2, sizeof(EarlierPolicy), "earlier", nullptr, nullptr, sizes, nullptr, nullptr}, 0xdeadbeef};

}  // namespace

extern "C" const tidepool_policy* tidepool_policy_v2(std::uint32_t) {
  return reinterpret_cast<const tidepool_policy*>(&kBuilt.policy);
}
