#include "studies/replay/type_speeds.hpp"

#include <algorithm>
#include <limits>

namespace tidepool::sim {

void TypeSpeeds::set(int type, int size, double steps_per_second) {
  if (steps_per_second > 0) entries_.push_back({type, size, steps_per_second});
}

double TypeSpeeds::steps_per_second(int type, int size) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.type == type && entry.size == size; });
  return found == entries_.end() ? 0 : found->steps_per_second;
}

double TypeSpeeds::step_seconds(policies::cluster::Shape shape) const {
  const double speed = steps_per_second(shape.type, shape.size);
  return speed > 0 ? 1 / speed : std::numeric_limits<double>::infinity();
}

std::vector<int> TypeSpeeds::sizes() const {
  std::vector<int> sizes;
  for (const Entry& entry : entries_) sizes.push_back(entry.size);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace tidepool::sim
