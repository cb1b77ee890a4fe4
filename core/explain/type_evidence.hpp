// What is to be said of the types of slot that a job asks for.
#pragma once

#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Which types a job that waits may be on, what each is expected to bring, which ones of the cluster are not among them,
// and which ones no node has. Nothing of one that takes any.
[[nodiscard]] std::vector<std::string> evidence_of_types(const ClusterState& state, const Job& job);

}  // namespace tidepool::core
