// Nodes that will not return leave the state.
//
// Rule: the certainty that the node will not return is the proof of death of its workers. A node is removed only if it
// is lost, no pool expects it back, and no job without workers would continue from a saved state on it.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// Nodes that pools have released, or that their providers have reclaimed, and that may be removed now: nothing refers
// to them. Ascending.
[[nodiscard]] std::vector<NodeId> removable_of_pools(const ClusterState& state);

// From then on an agent with its name joins as a new node.
[[nodiscard]] Status apply(StateChange& change, const NodeRemoved& fact);

}  // namespace tidepool::core
