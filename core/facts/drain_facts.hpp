// Drains of nodes, by cause: an operator or the node's pool, a notice of its provider, a maintenance window.
//
// Rule: each cause starts and ends independently. The node must be empty by the earliest deadline, and the drain ends
// with the last cause.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// Each worker once, by id.
[[nodiscard]] std::vector<WorkerId> workers_on(const Node& node);

// Whether the notice, received at `at`, is new information about the node. If a notice is already in force, only an end
// that is a second or more earlier is new: clocks and links make repeated notices differ slightly.
[[nodiscard]] bool is_news(const Node& node, const NodeReclaimNoticed& fact, Instant at);

[[nodiscard]] Status apply(StateChange& change, const NodeDrainRequested& fact);
// Cancels the drains of operators, pools and notices; the drain of a maintenance window continues. A pool that was
// emptying the node keeps it until it has a new reason.
[[nodiscard]] Status apply(StateChange& change, const NodeDrainCancelled& fact);
[[nodiscard]] Status apply(StateChange& change, const NodeReclaimNoticed& fact);

// The operator or the node's pool requests the drain. No event, except when the node is empty.
void ask_drain(StateChange& change, NodeId node, Instant deadline, const std::string& reason);
// What windows require of the node from now on; none: nothing. No effect if that is already known.
struct WindowOfNode {
  NodeMaintenance maintenance;
  std::string reason;
};
void ask_drain(StateChange& change, NodeId node, const std::optional<WindowOfNode>& window);

}  // namespace tidepool::core
