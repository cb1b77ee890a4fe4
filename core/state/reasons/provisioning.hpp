// Why a node is created, emptied or released.
#pragma once

#include "core/state/reasons/parts.hpp"

namespace tidepool::core::reason {

// The properties of another node of a pool.
struct OfNode {
  int slots = 0;
  Money price;    // per slot and hour
  Duration lead;  // expected time until the node is there
  bool operator==(const OfNode&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("node_slots", self.slots), at("price", self.price), at("lead_seconds", self.lead);
  }
};

// A waiting job fits on no node that exists or is coming.
struct NodeForGang : OfNode {
  JobId job = {};
  int needed = 0;                // slots
  int room = 0;                  // slots that it could have without this node and those requested with it
  int nodes = 1;                 // requested with it, including this one
  std::optional<int> kept = {};  // nodes that have come and need this one: it is requested again
  static constexpr Traits kTraits{"NodeForGang", ReasonCategory::kNode};
  bool operator==(const NodeForGang&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("job", self.job, kIdentity), at("needed", self.needed), at("room", self.room), at("nodes", self.nodes),
        at("kept", self.kept), OfNode::fields(self, at);
  }
};
// A running job would gain more from the node than it costs.
struct NodeForGrowth : OfNode {
  JobId job = {};
  int from = 0;  // workers
  int to = 0;
  double use = 0;                // use of a slot that the job would add, relative to a slot at its smallest size
  Money worth;                   // per slot and hour at that use
  std::optional<int> kept = {};  // as in NodeForGang
  static constexpr Traits kTraits{"NodeForGrowth", ReasonCategory::kNode};
  bool operator==(const NodeForGrowth&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("job", self.job, kIdentity), at("from", self.from), at("to", self.to), at("use", self.use),
        at("worth", self.worth), at("kept", self.kept), OfNode::fields(self, at);
  }
};
// The node's pool has fewer nodes than its minimum.
struct NodeForMinimum : OfNode {
  int nodes = 0;
  int min = 0;
  static constexpr Traits kTraits{"NodeForMinimum", ReasonCategory::kNode};
  bool operator==(const NodeForMinimum&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("nodes", self.nodes), at("min", self.min), OfNode::fields(self, at);
  }
};
// The active policy file wants more nodes in the pool than there are.
struct NodeForPolicy : OfNode {
  int nodes = 0;                           // present nodes of the pool
  int wanted = 0;                          // within the pool's bounds
  std::string word = {};                   // of the policy file; empty = it gave none
  std::vector<ReasonNumber> numbers = {};  // none has the name of one of the fields above
  static constexpr Traits kTraits{"NodeForPolicy", ReasonCategory::kNode};
  bool operator==(const NodeForPolicy&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("nodes", self.nodes), at("wanted", self.wanted), OfNode::fields(self, at);
  }
};
// The active policy file wants fewer nodes.
struct NodeBeyondPolicy {
  int nodes = 0;
  int wanted = 0;
  std::optional<Duration> idle = {};       // how long it has held nothing; none = it is emptied
  std::string word = {};                   // as in NodeForPolicy
  std::vector<ReasonNumber> numbers = {};  // as in NodeForPolicy
  static constexpr Traits kTraits{"NodeBeyondPolicy", ReasonCategory::kNode};
  bool operator==(const NodeBeyondPolicy&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("nodes", self.nodes), at("wanted", self.wanted), at("idle_seconds", self.idle);
  }
};
// The node has held nothing for that long.
struct NodeIdle {
  Duration idle;
  int slots = 0;
  Money price;
  int left = 0;  // nodes that its pool has afterwards
  static constexpr Traits kTraits{"NodeIdle", ReasonCategory::kNode};
  bool operator==(const NodeIdle&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("idle_seconds", self.idle), at("node_slots", self.slots), at("price", self.price), at("nodes", self.left);
  }
};
// The loss of its jobs without the node is worth less than the node costs.
struct NodeNotWorth {
  Money worth;  // per slot and hour
  Money price;
  int slots = 0;
  static constexpr Traits kTraits{"NodeNotWorth", ReasonCategory::kNode};
  bool operator==(const NodeNotWorth&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("worth", self.worth), at("price", self.price), at("node_slots", self.slots);
  }
};
// All workers have left the node.
struct NodeEmptied {
  bool operator==(const NodeEmptied&) const = default;
  static constexpr Traits kTraits{"NodeEmptied", ReasonCategory::kNode};
  static constexpr void fields(auto&, auto&&) {}
};
// No agent has joined from the node.
struct NodeNeverJoined {
  Duration waited;
  static constexpr Traits kTraits{"NodeNeverJoined", ReasonCategory::kNode};
  bool operator==(const NodeNeverJoined&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("waited_seconds", self.waited); }
};
// The node's agent has been lost for longer than a new node takes to come.
struct NodeAway {
  Duration away;
  static constexpr Traits kTraits{"NodeAway", ReasonCategory::kNode};
  bool operator==(const NodeAway&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("away_seconds", self.away); }
};
// The provider ends the node at that time.
struct NodeLifetimeEnds {
  Duration left;
  static constexpr Traits kTraits{"NodeLifetimeEnds", ReasonCategory::kNode};
  bool operator==(const NodeLifetimeEnds&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("seconds_left", self.left); }
};
// The node's pool is no longer configured, or has more nodes than it may have.
struct NodeSurplus {
  int nodes = 0;
  int max = 0;
  static constexpr Traits kTraits{"NodeSurplus", ReasonCategory::kNode};
  bool operator==(const NodeSurplus&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("nodes", self.nodes), at("max", self.max); }
};

}  // namespace tidepool::core::reason
