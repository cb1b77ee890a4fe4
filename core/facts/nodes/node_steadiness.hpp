// Faults of nodes, and their effects as time passes (node_faults.hpp).
//
// Rule: a node becomes steady, and its faults are forgotten, with the first fact at or after that moment, like budgets
// (budget_facts.hpp); no decision reads the remaining time.
#pragma once

#include <optional>
#include <string>

#include "base/id_set.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

[[nodiscard]] Status apply(StateChange& change, const NodeDampingConfigured& fact);
[[nodiscard]] Status apply(StateChange& change, const NodeFaultsCleared& fact);

// Its agent is lost. No effect if an operator, a notice or its pool had closed the node before.
void note_loss(StateChange& change, NodeId node, const std::string& why);
// The worker has ended, on its own or by a fault of the node. No effect unless the end is a fault as defined in
// node_faults.hpp. Returns whether it counts against the node alone: its agent could start nothing.
[[nodiscard]] bool note_exit(StateChange& change, const Worker& worker, const WorkerExited& fact);
// A worker has become ready there.
void note_start(StateChange& change, NodeId node);

[[nodiscard]] IdSet<NodeId> nodes_with_faults(const ClusterState& state);
// Call after a fact at which one of these changes is due; `nodes`: those that had faults before the fact.
void follow_steadiness(StateChange& change, const IdSet<NodeId>& nodes);
// When the first of `nodes` becomes steady or has its faults forgotten.
[[nodiscard]] std::optional<Instant> next_faults_due(const ClusterState& state, const IdSet<NodeId>& nodes);
// When the first unsteady node of `nodes` is steady again, if nothing happens until then. No job waits for faults to be
// forgotten, so that moment is not included.
[[nodiscard]] std::optional<Instant> next_steady(const ClusterState& state, const IdSet<NodeId>& nodes);

}  // namespace tidepool::core
