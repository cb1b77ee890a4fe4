// A native policy whose hook share answers with a column of the tenants, the one that the parameter `by` counts; -1: it
// leaves the last tenant unanswered, -2: it cannot answer.
#include <cstdint>

#include "policies/host/tidepool_policy.h"

namespace {

int share(const tidepool_view* view, const tidepool_host* host, double* answer) {
  const int by = static_cast<int>(host->param(host->context, "by", 0));
  if (by == -2) return 1;
  for (std::uint32_t i = 0; i < view->tenant_rows; ++i) {
    if (by >= 0) answer[i] = view->tenant[by][i];
    if (by == -1 && i + 1 < view->tenant_rows) answer[i] = 1;
  }
  return 0;
}

const tidepool_policy kPolicy{.abi = TIDEPOOL_POLICY_ABI,
                              .size = sizeof(tidepool_policy),
                              .name = "by_tenants",
                              .admit = nullptr,
                              .order = nullptr,
                              .sizes = nullptr,
                              .marks = nullptr,
                              .pool = nullptr,
                              .share = share,
                              .provision = nullptr};

}  // namespace

extern "C" const tidepool_policy* tidepool_policy_v2(std::uint32_t) {
  return &kPolicy;
}
