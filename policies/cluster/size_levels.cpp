#include "policies/cluster/size_levels.hpp"

#include <algorithm>
#include <cmath>

namespace tidepool::policies::cluster {

std::vector<Level> levels_of(const JobRow& job, int slots, int slots_per_node) {
  std::vector<Level> levels;
  for (int size = 1; size <= std::min(job.size_max, slots); size *= 2) {
    const double seconds = job.speed->step_seconds(packed(size, std::max(1, slots_per_node)));
    if (std::isfinite(seconds) && seconds > 0) levels.push_back({.size = size, .speed = 1 / seconds});
  }
  return levels;
}

Level level_within(const std::vector<Level>& levels, int slots) {
  Level best;
  for (const Level& level : levels) {
    if (level.size <= slots) best = level;
  }
  return best;
}

}  // namespace tidepool::policies::cluster
