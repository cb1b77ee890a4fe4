#include "policies/cluster/size_grants.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tidepool::policies::cluster {
namespace {

core::Reason reason_for(const JobRow& job, const ChosenSize& chosen, int free) {
  const int held = size_of(job.placement);
  const double size = chosen.size;
  if (chosen.size == 0) {
    return {core::ReasonCode::kWaitingForSlots, {{"needed", 1}, {"free", double(free)}}};
  }
  if (held == 0) return {core::ReasonCode::kStarted, {{"size", size}}};
  if (chosen.size == held && held == job.size_max) return {core::ReasonCode::kAtMax, {{"size", size}}};
  if (chosen.size == held) {
    return {core::ReasonCode::kUtilitySettled,
            {{"size", size}, {"next", size + 1}, {"utility_gain", chosen.gain}, {"cost_gain", chosen.bar}}};
  }
  const auto code = chosen.size > held ? core::ReasonCode::kUtilityUp : core::ReasonCode::kUtilityDown;
  return {code, {{"from", double(held)}, {"to", size}, {"utility_gain", chosen.gain}, {"cost_gain", chosen.bar}}};
}

}  // namespace

Allocation grant_sizes(const View& view, const std::vector<ChosenSize>& chosen) {
  int free = view.slots();
  for (const ChosenSize& choice : chosen) free -= choice.size;
  Allocation allocation{.grants = std::vector<Grant>(view.jobs.size()), .order = {}};
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    Grant& grant = allocation.grants[row];
    grant.size = chosen[row].size;
    grant.mark = view.jobs[row].mark;
    grant.reason = reason_for(view.jobs[row], chosen[row], free);
  }
  allocation.order.resize(view.jobs.size());
  std::iota(allocation.order.begin(), allocation.order.end(), 0);
  std::sort(allocation.order.begin(), allocation.order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(-chosen[a].size, a) < std::pair(-chosen[b].size, b);
  });
  return allocation;
}

std::vector<double> speedup_table(const JobRow& job, int slots_per_node, int most) {
  std::vector<double> table{0};
  double alone = 0;  // seconds that one worker takes, or would
  for (int size = 1; size <= most; ++size) {
    const double seconds = job.speed->step_seconds(packed(size, slots_per_node));
    const bool runs = std::isfinite(seconds) && seconds > 0;
    if (runs && alone == 0) alone = size * seconds;
    table.push_back(runs ? alone / seconds : 0);
  }
  return table;
}

}  // namespace tidepool::policies::cluster
