// A job's saved states, in words: the state from which it would continue, states that were not used and why, and
// checkpoints that could not be taken.
#pragma once

#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

void add_saved_state_evidence(const ClusterState& state, const Job& job, std::vector<std::string>& evidence);

}  // namespace tidepool::core
