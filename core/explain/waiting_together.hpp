// Groups the jobs of one submission that wait by what they wait for.
#pragma once

#include <vector>

#include "base/ids.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

struct WaitingTogether {
  Reason reason;            // current_reason() of the first of them
  std::vector<JobId> jobs;  // whose reasons read the same, but for how many jobs are before each in line
};

// In the order of the jobs. Left out are those that do not wait, of which nothing has been decided, or that have left
// the state. The reason is worked out once for jobs that ask for the same and of which the engine has said the same.
[[nodiscard]] std::vector<WaitingTogether> waiting_together(const ClusterState& state, const std::vector<JobId>& jobs);

}  // namespace tidepool::core
