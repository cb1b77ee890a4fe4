// Evidence about the nodes that a job asks for: by types of slot, labels and memory.
#pragma once

#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Which types a job that waits may be on, what each is expected to bring, which ones of the cluster are not among them,
// and which ones no node has. Likewise of labels and memory. Nothing of one that takes any node.
[[nodiscard]] std::vector<std::string> evidence_of_types(const ClusterState& state, const Job& job);
// That its slots cost more than its price cap; else how many nodes of each type that it takes are within it, and
// nothing where all nodes are.
[[nodiscard]] std::vector<std::string> evidence_of_price_cap(const ClusterState& state, const Job& job);
// How its workers lie by its own wish, and in which domains they are. Nothing of one that says nothing of that.
[[nodiscard]] std::vector<std::string> evidence_of_rules(const ClusterState& state, const Job& job);

}  // namespace tidepool::core
