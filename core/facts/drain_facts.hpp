// Drains of nodes, by what asks for them: an operator or the node's pool, a notice of its provider, a maintenance
// window.
//
// Rule: each cause comes and goes by itself. The node is to be empty by the earliest of them, and the drain ends with
// the last one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// Each once, by id.
[[nodiscard]] std::vector<WorkerId> workers_on(const Node& node);

// Whether the notice, told at `at`, is news of the node. Of one that stands only an end that is a second or more
// earlier is: clocks and links make what is told again a little different each time.
[[nodiscard]] bool is_news(const Node& node, const NodeReclaimNoticed& fact, Instant at);

[[nodiscard]] Status apply(StateChange& change, const NodeDrainRequested& fact);
// Of operators, pools and notices; one that a maintenance window asks for goes on. A pool that was emptying the node
// keeps it until it has a reason anew.
[[nodiscard]] Status apply(StateChange& change, const NodeDrainCancelled& fact);
[[nodiscard]] Status apply(StateChange& change, const NodeReclaimNoticed& fact);

// An operator, or its pool, asks for it. No event but that it is empty.
void ask_drain(StateChange& change, NodeId node, Instant deadline, const std::string& reason);
// What windows ask of the node from now on; none: nothing. Of no effect if that is known.
struct WindowOfNode {
  NodeMaintenance maintenance;
  std::string reason;
};
void ask_drain(StateChange& change, NodeId node, const std::optional<WindowOfNode>& window);

}  // namespace tidepool::core
