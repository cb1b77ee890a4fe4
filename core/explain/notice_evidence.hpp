// What the workers of a job that are told to leave have answered, and by when they have to be gone.
#pragma once

#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

[[nodiscard]] std::vector<std::string> notice_evidence(const ClusterState& state, const Job& job);

}  // namespace tidepool::core
