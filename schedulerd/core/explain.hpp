// Reasons as sentences. One place renders them, so every surface says the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "schedulerd/core/cluster_state.hpp"
#include "schedulerd/core/plan.hpp"

namespace tidepool::core {

// "added a worker (2 -> 3): scaling efficiency 0.62 is above 0.10".
[[nodiscard]] std::string sentence(const Reason& reason);

// A planned intent with its reason, as the decision log and `schedctl decisions` print it.
[[nodiscard]] std::string sentence(const PlannedIntent& planned, const ClusterState& state);

// The job's verdict with those numbers brought up to date that change with every step or second; a verdict is
// stored anew only when its code changes.
[[nodiscard]] Reason current_reason(const ClusterState& state, const Job& job);

struct Explanation {
  std::string summary;  // the verdict in one sentence
  Reason reason;
  std::vector<std::string> evidence;  // numbers in words, most telling first
  std::vector<std::string> unblocks;  // what would change the verdict
  std::optional<Alternative> chosen;  // the size that its policy wants, with its own reason
  std::vector<Alternative> lost;      // best first
  std::vector<JobId> ahead;           // jobs that go first, if it waits
};

// Why the job is in its present state and size. Requires: the job exists.
[[nodiscard]] Explanation explain(const ClusterState& state, JobId job);

}  // namespace tidepool::core
