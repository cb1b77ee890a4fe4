// even_split: every job gets an equal part of the cluster, rounded down to a size that it may take. The worked example
// of a native policy (docs/policies.md). Build it with
//   c++ -std=c++20 -O2 -fPIC -shared -I<include folder of Tidepool> policy.cpp -o policy.so
#include <cstdint>

#include "policies/host/tidepool_policy.h"

namespace {

int sizes(const tidepool_view* view, const tidepool_host* host, double* answer) {
  const double most = host->param(host->context, "most", 1e9);
  const double part = view->jobs == 0 ? 0 : double(view->slots / view->jobs);
  for (std::uint32_t i = 0; i < view->jobs; ++i) {
    answer[i] = 0;
    for (std::uint32_t k = view->first_option[i]; k < view->first_option[i + 1]; ++k) {
      if (view->option_size[k] <= part && view->option_size[k] <= most) answer[i] = view->option_size[k];
    }
    const tidepool_number number{.name = "part", .value = part};
    host->why(host->context, i, "EvenPart", &number, 1);
  }
  return 0;
}

const tidepool_policy kPolicy{.abi = TIDEPOOL_POLICY_ABI,
                              .size = sizeof(tidepool_policy),
                              .name = "even_split",
                              .admit = nullptr,
                              .order = nullptr,
                              .sizes = sizes,
                              .marks = nullptr,
                              .pool = nullptr};

}  // namespace

extern "C" const tidepool_policy* tidepool_policy_v2(std::uint32_t host_abi) {
  return host_abi == TIDEPOOL_POLICY_ABI ? &kPolicy : nullptr;
}
