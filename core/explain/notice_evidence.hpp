// The answers of a job's workers that were asked to leave, and the deadlines by which they must have left.
#pragma once

#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

[[nodiscard]] std::vector<std::string> notice_evidence(const ClusterState& state, const Job& job);

}  // namespace tidepool::core
