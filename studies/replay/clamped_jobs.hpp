// Jobs of a workload that ask for what their profile does not allow get the nearest that it does, and the run says how
// many these were.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tidepool::sim {

// The largest of these sizes that is not above the wanted one, else the smallest. Requires: ascending, not empty.
[[nodiscard]] int nearest_size(const std::vector<int>& sizes, int wanted);

struct ClampedJobs {
  std::size_t sizes = 0;    // jobs whose size was changed
  std::size_t batches = 0;  // jobs whose batch was changed

  // One sentence each, of so many jobs in all.
  [[nodiscard]] std::vector<std::string> notes(std::size_t jobs) const;
};

}  // namespace tidepool::sim
