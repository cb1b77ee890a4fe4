// A native policy that gives a job 3 slots if the column that the parameter `by` names says so, else 1: 1 = its tenant
// is "gold", 2 = it asks for the type "h100", 3 = it holds slots of "h100", 4 = its slots cost more than 5 an hour, 5 =
// the first node is of type "h100", 6 = a slot of the first node costs more than 3, 7 = growing to as many slots as the
// parameter `at` says takes less than 10 s.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "policies/host/tidepool_policy.h"

namespace {

bool is_named(const tidepool_name* names, double index, const char* name) {
  return !std::isnan(index) && std::strcmp(names[static_cast<std::uint32_t>(index)].text, name) == 0;
}

bool has_type(const tidepool_view* view, const std::uint32_t* first, const std::uint32_t* types, std::uint32_t job) {
  bool found = false;
  for (std::uint32_t k = first[job]; k < first[job + 1]; ++k)
    found = found || is_named(view->type_name, types[k], "h100");
  return found;
}

double grow_seconds_at(const tidepool_view* view, std::uint32_t job, double size) {
  for (std::uint32_t k = view->first_cost[job]; k < view->first_cost[job + 1]; ++k) {
    const double least = view->cost[TIDEPOOL_COST_SIZE][k];
    if (least <= size && size < 2 * least) return view->cost[TIDEPOOL_COST_GROW][k];
  }
  return view->job[TIDEPOOL_JOB_GROW][job];
}

struct Chosen {
  int by;
  double at;
};

bool is_chosen(const tidepool_view* view, Chosen chosen, std::uint32_t job) {
  switch (chosen.by) {
    case 1: return is_named(view->tenant_name, view->job[TIDEPOOL_JOB_TENANT][job], "gold");
    case 2: return has_type(view, view->first_asked, view->asked_type, job);
    case 3: return has_type(view, view->first_held, view->held_type, job);
    case 4: return view->job[TIDEPOOL_JOB_PRICE][job] > 5;
    case 5: return is_named(view->type_name, view->node[TIDEPOOL_NODE_TYPE][0], "h100");
    case 7: return grow_seconds_at(view, job, chosen.at) < 10;
    default: return view->node[TIDEPOOL_NODE_PRICE][0] > 3;
  }
}

int sizes(const tidepool_view* view, const tidepool_host* host, double* answer) {
  const Chosen chosen{.by = static_cast<int>(host->param(host->context, "by", 0)),
                      .at = host->param(host->context, "at", 0)};
  for (std::uint32_t i = 0; i < view->jobs; ++i) answer[i] = is_chosen(view, chosen, i) ? 3 : 1;
  return 0;
}

const tidepool_policy kPolicy{.abi = TIDEPOOL_POLICY_ABI,
                              .size = sizeof(tidepool_policy),
                              .name = "by_columns",
                              .admit = nullptr,
                              .order = nullptr,
                              .sizes = sizes,
                              .marks = nullptr,
                              .pool = nullptr};

}  // namespace

extern "C" const tidepool_policy* tidepool_policy_v2(std::uint32_t) {
  return &kPolicy;
}
