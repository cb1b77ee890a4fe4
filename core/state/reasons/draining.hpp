// Why a job changes, or waits, because a node is being drained; and why it waits because a node is unsteady.
#pragma once

#include "core/state/reasons/worker.hpp"

namespace tidepool::core::reason {

// The shape of actions about a node that must be empty in `left`.
struct OfDrain {
  NodeId node;
  Duration left;
  bool reclaimed = false;          // its provider reclaims the machine
  std::optional<int> window = {};  // the maintenance window that is the only cause of the drain
  bool operator==(const OfDrain&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("node", self.node, kIdentity), at("seconds_left", self.left), at("reclaimed", self.reclaimed);
    at("window", self.window);
  }
};

// One of its workers is started on another node and takes the place of the worker on this node.
struct DrainMove : OfDrain {
  WorkerId worker = {};
  NodeId target = {};
  static constexpr Traits kTraits{"DrainMove", ReasonCategory::kWorker};
  bool operator==(const DrainMove&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("worker", self.worker, kIdentity), OfDrain::fields(self, at), at("to_node", self.target);
  }
};
// Other nodes have no room for all of its workers on this node, and it may be smaller.
struct DrainShrink : Change {
  OfDrain drain = {};
  static constexpr Traits kTraits{"DrainShrink", ReasonCategory::kShrinking};
  bool operator==(const DrainShrink&) const = default;
  static constexpr void fields(auto& self, auto&& at) { Change::fields(self, at), OfDrain::fields(self.drain, at); }
};
// The job's only worker is on this node, so a second worker takes over its state before the first leaves.
struct DrainGrow : Change {
  OfDrain drain = {};
  static constexpr Traits kTraits{"DrainGrow", ReasonCategory::kGrowing};
  bool operator==(const DrainGrow&) const = default;
  static constexpr void fields(auto& self, auto&& at) { Change::fields(self, at), OfDrain::fields(self.drain, at); }
};
// The job saves its state and releases all slots: it can neither move nor shrink enough.
struct DrainSuspend : OfDrain {
  static constexpr Traits kTraits{"DrainSuspend", ReasonCategory::kWorker};
};
// The job waits for room elsewhere for its slots, and saves its state in time if no room becomes free.
struct DrainHold : OfDrain {
  int wanted = 0;
  static constexpr Traits kTraits{"DrainHold", ReasonCategory::kHolding};
  bool operator==(const DrainHold&) const = default;
  static constexpr void fields(auto& self, auto&& at) { OfDrain::fields(self, at), at("wanted", self.wanted); }
};
// The job was still starting on this node, or still there at the deadline.
struct DrainStop : OfDrain {
  WorkerId worker = {};
  static constexpr Traits kTraits{"DrainStop", ReasonCategory::kWorker};
  bool operator==(const DrainStop&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("worker", self.worker, kIdentity), OfDrain::fields(self, at);
  }
};
// The job waits: the nodes that are not being drained are too small for it.
struct NodesDrain {
  int needed = 0;
  int cluster = 0;   // slots that it may use, without those that are being drained
  NodeId node = {};  // the first of the drained nodes
  bool reclaimed = false;
  std::optional<int> window = {};  // as in OfDrain
  static constexpr Traits kTraits{"NodesDrain", ReasonCategory::kWaiting};
  bool operator==(const NodesDrain&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("cluster", self.cluster), at("node", self.node, kIdentity);
    at("reclaimed", self.reclaimed), at("window", self.window);
  }
};

// The job waits: without the nodes that failed repeatedly, and get no workers for a while, the pool is too small.
struct NodesUnsteady {
  int needed = 0;
  int cluster = 0;   // slots that it may use, without those nodes and those that are being drained
  NodeId node = {};  // the first of those nodes
  static constexpr Traits kTraits{"NodesUnsteady", ReasonCategory::kWaiting};
  bool operator==(const NodesUnsteady&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("cluster", self.cluster), at("node", self.node, kIdentity);
  }
};

}  // namespace tidepool::core::reason
