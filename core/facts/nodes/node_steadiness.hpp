// Faults of nodes, and what follows from them as time passes (node_faults.hpp).
//
// Rule: a node becomes steady, and its faults are forgotten, with the first fact at or after that moment, as budgets go
// on (budget_facts.hpp); nothing that decides looks at the time that is left.
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

[[nodiscard]] IdSet<NodeId> nodes_with_faults(const ClusterState& state);
// After a fact at which one of them is due; `nodes`: those that had faults before it.
void follow_steadiness(StateChange& change, const IdSet<NodeId>& nodes);
// When the first of these becomes steady or its faults are forgotten.
[[nodiscard]] std::optional<Instant> next_faults_due(const ClusterState& state, const IdSet<NodeId>& nodes);
// When the first of these that are unsteady is steady again, if nothing happens until then. No job waits for faults to
// be forgotten, so that has no moment of its own.
[[nodiscard]] std::optional<Instant> next_steady(const ClusterState& state, const IdSet<NodeId>& nodes);

}  // namespace tidepool::core
