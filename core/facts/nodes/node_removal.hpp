// Nodes that do not come back leave the state.
//
// Rule: that it does not come back is the proof of death of what it ran. Only one goes that is lost, that no pool
// counts on, and from whose saved states no job that runs nowhere would go on.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// Nodes that pools have given back, or that their providers have taken, and that may be removed now: nothing refers to
// them. Ascending.
[[nodiscard]] std::vector<NodeId> removable_of_pools(const ClusterState& state);

// An agent of its name joins as a new node from then on.
[[nodiscard]] Status apply(StateChange& change, const NodeRemoved& fact);

}  // namespace tidepool::core
