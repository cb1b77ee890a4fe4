#include "policies/cluster/slot_profile.hpp"

#include <algorithm>

namespace tidepool::policies::cluster {

void SlotProfile::cut(std::int64_t at_s) {
  const auto after = std::upper_bound(steps_.begin(), steps_.end(), at_s,
                                      [](std::int64_t time, const Step& step) { return time < step.from_s; });
  if (after == steps_.begin() || std::prev(after)->from_s == at_s) return;
  steps_.insert(after, {.from_s = at_s, .free = std::prev(after)->free});
}

void SlotProfile::add(const std::vector<Stretch>& plan, std::int64_t end_s, int sign) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const std::int64_t until_s = i + 1 < plan.size() ? plan[i + 1].from_s : end_s;
    if (plan[i].size == 0 || until_s <= plan[i].from_s) continue;
    cut(plan[i].from_s);
    cut(until_s);
    for (Step& step : steps_) {
      if (step.from_s >= plan[i].from_s && step.from_s < until_s) step.free += sign * plan[i].size;
    }
  }
}

double slot_seconds(const std::vector<Stretch>& plan, std::int64_t end_s) {
  double sum = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const std::int64_t until_s = i + 1 < plan.size() ? plan[i + 1].from_s : end_s;
    sum += plan[i].size * static_cast<double>(until_s - plan[i].from_s);
  }
  return sum;
}

}  // namespace tidepool::policies::cluster
