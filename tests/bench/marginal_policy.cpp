// The native half of policy_host_bench: for each job the size with the best value.
#include <cstdint>

#include "policies/host/tidepool_policy.h"

namespace {

int sizes(const tidepool_view* view, const tidepool_host* /*host*/, double* answer) {
  for (std::uint32_t i = 0; i < view->jobs; ++i) {
    double best = 0;
    double best_value = 0;
    for (std::uint32_t k = view->first_option[i]; k < view->first_option[i + 1]; ++k) {
      const double value = view->option_goodput[k] - 0.2 * view->option_size[k];
      if (value > best_value) {
        best = view->option_size[k];
        best_value = value;
      }
    }
    answer[i] = best;
  }
  return 0;
}

const tidepool_policy kPolicy{.abi = TIDEPOOL_POLICY_ABI,
                              .size = sizeof(tidepool_policy),
                              .name = "marginal",
                              .admit = nullptr,
                              .order = nullptr,
                              .sizes = sizes,
                              .marks = nullptr,
                              .pool = nullptr};

}  // namespace

extern "C" const tidepool_policy* tidepool_policy_v2(std::uint32_t /*host_abi*/) {
  return &kPolicy;
}
