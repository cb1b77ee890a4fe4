// How a job trains, in words: what was measured at its sizes, what its changes have cost, and its slow workers.
#pragma once

#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

void add_training_evidence(const ClusterState& state, const Job& job, std::vector<std::string>& evidence);

}  // namespace tidepool::core
