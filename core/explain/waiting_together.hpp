// Groups the waiting jobs of one submission by what they wait for.
#pragma once

#include <vector>

#include "base/ids.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

struct WaitingTogether {
  Reason reason;            // current_reason() of the first of them
  std::vector<JobId> jobs;  // jobs whose reasons read the same, except for the number of jobs before each in line
};

// In the order of the jobs. Omits jobs that do not wait, that have no decision yet, or that have left the state. The
// reason is computed once for jobs with equal requests and equal verdicts.
[[nodiscard]] std::vector<WaitingTogether> waiting_together(const ClusterState& state, const std::vector<JobId>& jobs);

}  // namespace tidepool::core
