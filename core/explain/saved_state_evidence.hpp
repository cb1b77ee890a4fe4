// What a job has saved, in words: what it would go on from, what it did not go on from and why, and checkpoints that
// could not be taken.
#pragma once

#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

void add_saved_state_evidence(const ClusterState& state, const Job& job, std::vector<std::string>& evidence);

}  // namespace tidepool::core
