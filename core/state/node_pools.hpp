// Pools of nodes that are created and given back by a provider, and each node that was asked for. Plain data; only
// Engine::step and Engine::accept change it.
//
// A node that was asked for stays here until the provider's own list lacks it: a daemon that was started anew finds
// every node that may cost money, and asks for none of them twice (its number names it at the provider).
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

// Counts all nodes that were ever asked for, over all pools.
using NodeRequest = std::uint64_t;

struct PoolSpec {
  std::string name;
  std::string slot_type;  // of its nodes' slots, whatever their agents report; empty = what they report
  int slots_per_node = 1;
  Money price_per_slot_hour;  // now (prices.hpp)
  Money worth_per_slot_hour;  // what an hour of a slot that is fully used is worth; not below the price
  int min = 0;                // nodes that are there even if nothing needs them
  int max = 0;
  Duration idle;       // for so long a node holds nothing before it is given back
  Duration lead_time;  // from asking for a node to its agent's joining, as expected
  bool spot = false;   // its nodes may be taken away at any time
  // Bytes of memory that its nodes have for each slot, at least; none: not told, so none is made for a job that asks.
  std::optional<std::int64_t> memory_per_slot = {};
  std::string made_by = {};  // digest of what makes its nodes, which alone can end them; empty = not told
  bool operator==(const PoolSpec&) const = default;
};

// Why a provider's answer was none.
enum class ProviderFault {
  kRefused,  // it has said no: out of stock, a wrong setting
  kQuota,    // a limit of the account
  kTimeout,  // no answer in time; the node may have come into being all the same
  kGarbage,  // an answer that cannot be read; likewise
};
[[nodiscard]] const char* to_text(ProviderFault fault);

// What has gone wrong in a row, and when the next attempt is due.
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
  bool retired = false;  // is no longer configured: its nodes stay until they are removed, and no more come
  Backoff backoff = {};  // of creating nodes
  // When the node was asked for that has failed last, if none has come of it.
  std::optional<Instant> failed_order = {};
  std::uint64_t settled_at = 0;  // NodePools::changes when a node of it was given back last
  Backoff list_backoff = {};     // of telling that its nodes could not be listed
  std::optional<Instant> list_fails_since = {};
  bool operator==(const NodePool&) const = default;
};

enum class PoolNodeState {
  kAsked,      // journaled; the provider is asked for it
  kCreated,    // the provider has it
  kJoined,     // its agent has
  kDraining,   // its workers leave it; after that it is given back
  kReleasing,  // the provider is told to end it; it is forgotten when it has said so and lists it no more
};
[[nodiscard]] const char* to_text(PoolNodeState state);

struct PoolNode {
  NodeRequest request = 0;
  std::string pool;
  std::string name = {};  // under which its agent joins: "gpu-3"; free again when this node is gone
  PoolNodeState state = PoolNodeState::kAsked;
  Instant asked_at = {};
  Instant since = {};                      // of the state
  std::string provider_id = {};            // as the provider calls it; empty = not told
  NodeId node = {};                        // none: its agent has not joined yet
  std::optional<Instant> idle_since = {};  // it is joined and holds nothing
  std::optional<Instant> away_since = {};  // it had joined, and its agent is away
  std::optional<Instant> ends_at = {};     // the provider ends it then
  bool was_used = false;                   // a worker has been on it
  bool delete_answered = false;            // the provider has said that it ends
  std::optional<Instant> ended_at = {};    // when it said so first
  Backoff backoff = {};                    // of ending it
  bool operator==(const PoolNode&) const = default;

  // Asked for, and its agent has not joined yet.
  [[nodiscard]] bool is_coming() const { return state == PoolNodeState::kAsked || state == PoolNodeState::kCreated; }
  // On its way out.
  [[nodiscard]] bool is_leaving() const {
    return state == PoolNodeState::kDraining || state == PoolNodeState::kReleasing;
  }
};

// It was asked for with a node that has not come since and will soon be asked for again, and has been of no use without
// that one. Not once the pool waits for longer than it lets a node be idle, or than one takes to come.
[[nodiscard]] bool lacks_another(const PoolNode& node, const NodePool& pool);

struct NodePools {
  double spot_share = 1;  // of all nodes of pools, at most this share is of spot pools
  std::map<std::string, NodePool> pools;
  SharedMap<NodeRequest, PoolNode> nodes;  // shared, because the state is copied each turn
  NodeRequest next_request = 1;
  std::uint64_t changes = 0;                 // things that happened outside of the engine and may change what is needed
  Instant changed_at;                        // the newest of them
  std::optional<Instant> forgotten_at = {};  // when a node left `nodes` last
  // Of which the machines are no more, or go and have lost their agents; ascending. Until they leave the state, or an
  // agent joins as one of them again.
  std::vector<NodeId> gone = {};
  bool operator==(const NodePools&) const = default;

  [[nodiscard]] const NodePool* find(const std::string& pool) const;
  [[nodiscard]] const PoolNode* find_node(NodeRequest request) const;
  [[nodiscard]] const PoolNode* find_name(const std::string& name) const;
  [[nodiscard]] const PoolNode* find_node(NodeId node) const;
  void set_gone(NodeId node, bool is_gone);
  [[nodiscard]] bool has_gone(NodeId node) const;
  // Its machine goes or has gone as its pool wanted: the loss of its agent then raises no alarm.
  [[nodiscard]] bool gives_back(NodeId node) const;
  // The pools of all nodes that have joined.
  [[nodiscard]] std::map<NodeId, const NodePool*> by_node() const;
  // Nodes of the pool, and those of them that are not on their way out.
  [[nodiscard]] int count(const std::string& pool) const;
  [[nodiscard]] int staying(const std::string& pool) const;
};

// For so long the workers of a node that is emptied have time, at most.
inline constexpr Duration kEmptiedWithin = Duration::seconds(600);
// How long before its provider ends it a node is emptied, and for how long its workers have time. Requires: ends_at.
[[nodiscard]] Duration lifetime_notice(const PoolNode& node);
// A node is to be empty so long before its provider ends it.
inline constexpr Duration kEndMargin = Duration::seconds(5);
// Its provider ends it, and the time to empty it has come.
[[nodiscard]] bool nears_its_end(const PoolNode& node, Instant now);
// To end its drain would be of no use: its provider is told to end it, or will soon do so by itself.
[[nodiscard]] bool goes_anyway(const PoolNode& node, Instant now);

// Its provider has said that it ends, for longer than a machine takes to go.
[[nodiscard]] bool outstays(const PoolNode& node, const PoolSpec& spec, Instant now);

// For how long a node that its provider has made may be without an agent.
[[nodiscard]] Duration join_patience(const PoolSpec& spec);
// When a node that has not joined is given up. One that its provider has not answered for has hours: calls are made one
// after another, and each ends by itself. Requires: it is coming.
[[nodiscard]] Instant joins_by(const PoolNode& node, const PoolSpec& spec);

}  // namespace tidepool::core
