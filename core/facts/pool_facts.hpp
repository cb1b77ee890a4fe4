// What facts about pools change in the state, and what facts about nodes change in pools.
//
// A node that was asked for is forgotten when its provider lists it no more, and not before; one that has not joined,
// or is given back, only after the provider has said that it ends it, because a list may be incomplete. A listing never
// ends a node whose agent is connected: a list that lacks it is wrong or early.
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

// Something has happened that no decision has brought about, and that may change which nodes are needed.
void note_outside_change(StateChange& change);
// After the node has joined: it is one of a pool, or stays as it is. Slot type and price are those of its pool.
void join_pool(StateChange& change, Node& node, int slots);
// The drain of its node has been cancelled: one that was being emptied stays. Of no effect on others.
void keep_pool_node(StateChange& change, NodeId node);
// Its node has been removed. Of no effect if no pool has it.
void forget_pool_node(StateChange& change, NodeId node);
// After each change: which nodes of pools hold nothing, and which are away.
void follow_pool_use(StateChange& change);

// A decision. Requires: it is valid.
void apply_nodes(StateChange& change, const std::vector<PlannedNode>& nodes);

// Whether the list says anything that the state does not know, or something is due by it.
[[nodiscard]] bool tells_news(const ClusterState& state, const PoolListed& fact, Instant now);
// Whether that it fails is to be told once more: later and later, whatever the provider says each time.
[[nodiscard]] bool tells_news(const ClusterState& state, const PoolListFailed& fact, Instant now);

}  // namespace tidepool::core
