// Faults of nodes, and what follows from them as time passes (node_faults.hpp).
//
// Rule: a node becomes steady with the first fact at or after that moment, as budgets go on (budget_facts.hpp); nothing
// that decides looks at the time that is left.
#pragma once

#include <optional>
#include <string>

#include "base/id_set.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

[[nodiscard]] Status apply(StateChange& change, const NodeDampingConfigured& fact);
[[nodiscard]] Status apply(StateChange& change, const NodeFaultsCleared& fact);

// Its agent is lost. Of no effect where an operator, a notice or its pool has closed the node before.
void note_loss(StateChange& change, NodeId node, const std::string& why);
// The worker has ended, of itself or by a fault of the node. Of no effect unless it is one of node_faults.hpp. Whether
// it counts against the node alone: its agent could start nothing.
[[nodiscard]] bool note_exit(StateChange& change, const Worker& worker, const WorkerExited& fact);
// A worker has become ready there.
void note_start(StateChange& change, NodeId node);

[[nodiscard]] IdSet<NodeId> unsteady_nodes(const ClusterState& state);
// After each fact; `unsteady`: the nodes that were, before it.
void follow_steadiness(StateChange& change, const IdSet<NodeId>& unsteady);
// When the first of these is steady again, if nothing happens until then.
[[nodiscard]] std::optional<Instant> next_steady(const ClusterState& state, const IdSet<NodeId>& unsteady);

}  // namespace tidepool::core
