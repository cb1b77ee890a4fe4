// What facts about pools change in the state, and what facts about nodes change in pools.
//
// Rule: a requested node is forgotten only when its provider no longer lists it. A node that has not joined, or that is
// being released, also needs the provider's confirmation that it ends, because a list may be incomplete. A listing
// never ends a node whose agent is connected: a list without that node is wrong or early.
#pragma once

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

[[nodiscard]] Status apply(StateChange& change, const PoolsConfigured& fact);
[[nodiscard]] Status apply(StateChange& change, const PoolNodeCreated& fact);
[[nodiscard]] Status apply(StateChange& change, const PoolNodeCreateFailed& fact);
[[nodiscard]] Status apply(StateChange& change, const PoolNodeDeleted& fact);
[[nodiscard]] Status apply(StateChange& change, const PoolNodeDeleteFailed& fact);
[[nodiscard]] Status apply(StateChange& change, const PoolListed& fact);
[[nodiscard]] Status apply(StateChange& change, const PoolListFailed& fact);

// Something happened that was not caused by a decision and that may change which nodes are needed.
void note_outside_change(StateChange& change);
// Call after the node has joined: if it belongs to a pool, it gets the pool's slot type and price; otherwise it is
// unchanged.
void join_pool(StateChange& change, Node& node, int slots);
// The drain of its node was cancelled: a pool node that was being emptied stays. No effect on other nodes.
void keep_pool_node(StateChange& change, NodeId node);
// Its node was removed. No effect if no pool has it.
void forget_pool_node(StateChange& change, NodeId node);
// Call after each change: updates which nodes of pools hold nothing, and which have lost their agents.
void follow_pool_use(StateChange& change);

// Applies a decision. Requires: it is valid.
void apply_nodes(StateChange& change, const std::vector<PlannedNode>& nodes);

// Whether the list contains anything new for the state, or makes something due.
[[nodiscard]] bool is_news(const ClusterState& state, const PoolListed& fact, Instant now);
// Whether to report the failure once more: at growing intervals, whatever the provider says each time.
[[nodiscard]] bool is_news(const ClusterState& state, const PoolListFailed& fact, Instant now);

}  // namespace tidepool::core
