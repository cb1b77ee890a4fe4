// Pools of nodes that a provider creates and deletes, and each node that was requested from it. Plain data; only
// Engine::step and Engine::accept change it.
//
// A requested node stays here until it is missing in the provider's own list: a restarted daemon finds every node that
// may cost money, and requests none of them twice (its number identifies it at the provider).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/money.hpp"
#include "base/shared_map.hpp"
#include "base/time.hpp"

namespace tidepool::core {

// Counts all nodes ever requested, over all pools.
using NodeRequest = std::uint64_t;

struct PoolSpec {
  std::string name;
  std::string slot_type;  // of its nodes' slots, whatever their agents report; empty = as the agents report
  int slots_per_node = 1;
  Money price_per_slot_hour;  // now (prices.hpp)
  Money worth_per_slot_hour;  // worth of an hour of a fully used slot; not below the price
  int min = 0;                // nodes that exist even if no job needs them
  int max = 0;
  Duration idle;       // how long a node holds nothing before it is released
  Duration lead_time;  // expected time from the request for a node until its agent joins
  bool spot = false;   // its nodes may be reclaimed at any time
  // Minimum memory of its nodes per slot, in bytes; none: unknown, so no node is created for a job that requests
  // memory.
  std::optional<std::int64_t> memory_per_slot = {};
  std::string made_by = {};  // digest of what creates its nodes, which alone can delete them; empty = unknown
  bool operator==(const PoolSpec&) const = default;
};

// Why a provider gave no usable answer.
enum class ProviderFault {
  kRefused,  // it refused: out of stock, a wrong setting
  kQuota,    // a limit of the account
  kTimeout,  // no answer in time; the node may have been created nevertheless
  kGarbage,  // an answer that cannot be read; the node may have been created as well
};
[[nodiscard]] const char* to_text(ProviderFault fault);

// Consecutive failures, and when the next attempt is due.
struct Backoff {
  int failures = 0;
  Instant failed_at;  // the newest one
  Instant until;
  std::string detail;  // of the newest failure
  bool operator==(const Backoff&) const = default;

  void fail(Instant at, std::string why);
  [[nodiscard]] bool holds(Instant now) const { return failures > 0 && now < until; }
};

struct NodePool {
  PoolSpec spec;
  bool retired = false;  // is no longer configured: its nodes stay until they are removed, and none are added
  Backoff backoff = {};  // of creating nodes
  // When the node that failed last was requested, if no node has come of it.
  std::optional<Instant> failed_order = {};
  std::uint64_t settled_at = 0;  // value of NodePools::changes when a node of it was last released
  Backoff list_backoff = {};     // for reporting that its nodes could not be listed
  std::optional<Instant> list_fails_since = {};
  bool operator==(const NodePool&) const = default;
};

enum class PoolNodeState {
  kAsked,      // journaled; requested from the provider
  kCreated,    // the provider has it
  kJoined,     // its agent has joined
  kDraining,   // its workers leave it; after that it is released
  kReleasing,  // the provider is asked to delete it; it is forgotten once the provider confirmed and no longer lists it
};
[[nodiscard]] const char* to_text(PoolNodeState state);

struct PoolNode {
  NodeRequest request = 0;
  std::string pool;
  std::string name = {};  // under which its agent joins: "gpu-3"; free again when this node no longer exists
  PoolNodeState state = PoolNodeState::kAsked;
  Instant asked_at = {};
  Instant since = {};                      // of the state
  std::string provider_id = {};            // the provider's id; empty = unknown
  NodeId node = {};                        // none: its agent has not joined yet
  std::optional<Instant> idle_since = {};  // since when it is joined and holds nothing
  std::optional<Instant> away_since = {};  // since when the agent of a joined node is lost
  std::optional<Instant> ends_at = {};     // when the provider ends it
  bool was_used = false;                   // a worker has been on it
  bool delete_answered = false;            // the provider has confirmed that it ends
  std::optional<Instant> ended_at = {};    // when the provider first confirmed it
  Backoff backoff = {};                    // of deleting it
  bool operator==(const PoolNode&) const = default;

  // Requested, and its agent has not joined yet.
  [[nodiscard]] bool is_coming() const { return state == PoolNodeState::kAsked || state == PoolNodeState::kCreated; }
  // The node is being removed.
  [[nodiscard]] bool is_leaving() const {
    return state == PoolNodeState::kDraining || state == PoolNodeState::kReleasing;
  }
};

// The node was requested together with a node that has not come and will soon be requested again, and has had no use
// without that node. No longer true once the pool waits for longer than its nodes may be idle, or than a node takes to
// come.
[[nodiscard]] bool lacks_another(const PoolNode& node, const NodePool& pool);

struct NodePools {
  double spot_share = 1;  // of all nodes of pools, at most this share may be in spot pools
  std::map<std::string, NodePool> pools;
  SharedMap<NodeRequest, PoolNode> nodes;  // shared, because the state is copied each turn
  NodeRequest next_request = 1;
  std::uint64_t changes = 0;                 // external changes that may affect which nodes are needed
  Instant changed_at;                        // time of the newest of them
  std::optional<Instant> forgotten_at = {};  // when a node was last removed from `nodes`
  // Nodes whose machines no longer exist, or are being removed and have lost their agents; ascending. They stay here
  // until they leave the state, or an agent joins as one of them again.
  std::vector<NodeId> gone = {};
  bool operator==(const NodePools&) const = default;

  [[nodiscard]] const NodePool* find(const std::string& pool) const;
  [[nodiscard]] const PoolNode* find_node(NodeRequest request) const;
  [[nodiscard]] const PoolNode* find_name(const std::string& name) const;
  [[nodiscard]] const PoolNode* find_node(NodeId node) const;
  void set_gone(NodeId node, bool is_gone);
  [[nodiscard]] bool has_gone(NodeId node) const;
  // The pool wanted its machine removed, which is in progress or done: the loss of its agent then raises no alarm.
  [[nodiscard]] bool gives_back(NodeId node) const;
  // The pools of all nodes that have joined.
  [[nodiscard]] std::map<NodeId, const NodePool*> by_node() const;
  // Nodes of the pool, and those of them that are not being removed.
  [[nodiscard]] int count(const std::string& pool) const;
  [[nodiscard]] int staying(const std::string& pool) const;
};

// The most time that the workers of a node that is emptied have.
inline constexpr Duration kEmptiedWithin = Duration::seconds(600);
// How long before its provider ends it a node is emptied, and how long its workers have. Requires: ends_at.
[[nodiscard]] Duration lifetime_notice(const PoolNode& node);
// A node must be empty this long before its provider ends it.
inline constexpr Duration kEndMargin = Duration::seconds(5);
// The node's provider will end it, and the time to empty it has come.
[[nodiscard]] bool nears_its_end(const PoolNode& node, Instant now);
// Ending its drain would be useless: its provider is asked to end it, or will soon end it on its own.
[[nodiscard]] bool goes_anyway(const PoolNode& node, Instant now);

// The node's provider confirmed its end longer ago than a machine takes to be removed.
[[nodiscard]] bool outstays(const PoolNode& node, const PoolSpec& spec, Instant now);

// How long a node that its provider has created may be without an agent.
[[nodiscard]] Duration join_patience(const PoolSpec& spec);
// When a node that has not joined is abandoned. A node that its provider has not answered for has hours: calls are made
// one after another, and each ends on its own. Requires: is_coming().
[[nodiscard]] Instant joins_by(const PoolNode& node, const PoolSpec& spec);

}  // namespace tidepool::core
