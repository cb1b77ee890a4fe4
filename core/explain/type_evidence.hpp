// Evidence about the nodes that a job requests: by slot type, labels and memory.
#pragma once

#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Which slot types a waiting job may use, the expected speed on each, which types of the cluster it may not use, and
// which types no node has. The same for labels and memory. Empty for a job that accepts any node.
[[nodiscard]] std::vector<std::string> evidence_of_types(const ClusterState& state, const Job& job);
// If its slots cost more than its price cap, this fact; otherwise how many nodes of each accepted type are within the
// cap, and nothing if all nodes are.
[[nodiscard]] std::vector<std::string> evidence_of_price_cap(const ClusterState& state, const Job& job);
// How its workers must be placed according to its specification, and in which domains they are. Empty if the
// specification has no such rules.
[[nodiscard]] std::vector<std::string> evidence_of_rules(const ClusterState& state, const Job& job);

}  // namespace tidepool::core
