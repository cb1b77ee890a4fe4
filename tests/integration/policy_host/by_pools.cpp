// A native policy whose hook provision answers with a column of the pools, the one that the parameter `by` counts, and
// says so of the last pool; -1: it leaves the last pool unanswered, -2: it cannot answer, -3: it leaves all to the
// built-in rule. Its other hook refuses to answer, and so tells whether it was asked.
#include <cmath>
#include <cstdint>

#include "policies/host/tidepool_policy.h"

namespace {

int sizes(const tidepool_view*, const tidepool_host*, double*) {
  return 1;
}

int provision(const tidepool_view* view, const tidepool_host* host, double* answer) {
  const int by = static_cast<int>(host->param(host->context, "by", 0));
  if (by == -2) return 1;
  for (std::uint32_t i = 0; i < view->pool_rows; ++i) {
    if (by >= 0) answer[i] = view->pool[by][i];
    if (by == -1 && i + 1 < view->pool_rows) answer[i] = 1;
    if (by == -3) answer[i] = std::nan("");
  }
  const tidepool_number number{"by", static_cast<double>(by)};
  host->why_pool(host->context, view->pool_rows - 1, "ByColumn", &number, 1);
  host->why_pool(host->context, view->pool_rows, "NoSuchPool", nullptr, 0);
  return 0;
}

const tidepool_policy kPolicy{.abi = TIDEPOOL_POLICY_ABI,
                              .size = sizeof(tidepool_policy),
                              .name = "by_pools",
                              .admit = nullptr,
                              .order = nullptr,
                              .sizes = sizes,
                              .marks = nullptr,
                              .pool = nullptr,
                              .share = nullptr,
                              .provision = provision};

}  // namespace

extern "C" const tidepool_policy* tidepool_policy_v2(std::uint32_t) {
  return &kPolicy;
}
