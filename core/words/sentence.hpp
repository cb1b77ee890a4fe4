// Reasons and intents as sentences. All surfaces use these, so they show the same text.
#pragma once

#include <string>

#include "core/state/cluster_state.hpp"
#include "core/state/plan.hpp"

namespace tidepool::core {

// "added a worker (2 -> 3): scaling efficiency 0.62 is above 0.10".
[[nodiscard]] std::string sentence(const Reason& reason);

// A planned intent with its reason, as the decision log and `schedctl decisions` print it.
[[nodiscard]] std::string sentence(const PlannedIntent& planned, const ClusterState& state);
// "gpu-3: one more node for job-4, ..."
[[nodiscard]] std::string sentence(const PlannedNode& planned);

}  // namespace tidepool::core
