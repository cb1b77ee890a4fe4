#include "straggler/detector.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace tidepool::straggler {

std::vector<Finding> Detector::judge(const StepTimes& step, const std::vector<Memory*>& memories) const {
  TP_CHECK(memories.size() == step.compute_us.size(), "each rank has a memory");
  const std::vector<double> relative = relative_times(step);
  const bool telling = std::all_of(relative.begin(), relative.end(), [](double time) { return time > 0; });
  if (telling) return observe(relative, memories);
  std::vector<Finding> findings;
  findings.reserve(memories.size());
  for (const Memory* memory : memories) findings.push_back(recall(*memory));
  return findings;
}

}  // namespace tidepool::straggler
