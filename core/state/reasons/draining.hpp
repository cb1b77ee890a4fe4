// Why a job changes, or waits, because a node is being drained; and waits because one is unsteady.
#pragma once

#include "core/state/reasons/worker.hpp"

namespace tidepool::core::reason {

// The shape of what is done about a node that must be empty in `left`.
struct OfDrain {
  NodeId node;
  Duration left;
  bool reclaimed = false;          // its provider takes the machine back
  std::optional<int> window = {};  // the maintenance window for which alone it is drained
  bool operator==(const OfDrain&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("node", self.node, kIdentity), at("seconds_left", self.left), at("reclaimed", self.reclaimed);
    at("window", self.window);
  }
};

// A worker of it is started on another node and takes the place of the one there.
struct DrainMove : OfDrain {
  WorkerId worker = {};
  NodeId target = {};
  static constexpr Traits kTraits{"DrainMove", ReasonCategory::kWorker};
  bool operator==(const DrainMove&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("worker", self.worker, kIdentity), OfDrain::fields(self, at), at("to_node", self.target);
  }
};
// Other nodes have no room for all of its workers there, and it may be smaller.
struct DrainShrink : Change {
  OfDrain drain = {};
  static constexpr Traits kTraits{"DrainShrink", ReasonCategory::kShrinking};
  bool operator==(const DrainShrink&) const = default;
  static constexpr void fields(auto& self, auto&& at) { Change::fields(self, at), OfDrain::fields(self.drain, at); }
};
// Its only worker is there, so a second one takes over its state before it leaves.
struct DrainGrow : Change {
  OfDrain drain = {};
  static constexpr Traits kTraits{"DrainGrow", ReasonCategory::kGrowing};
  bool operator==(const DrainGrow&) const = default;
  static constexpr void fields(auto& self, auto&& at) { Change::fields(self, at), OfDrain::fields(self.drain, at); }
};
// It saves its state and gives up all slots: it can neither move nor be small enough.
struct DrainSuspend : OfDrain {
  static constexpr Traits kTraits{"DrainSuspend", ReasonCategory::kWorker};
};
// It waits for room elsewhere, for so many slots, and saves its state in time if none comes free.
struct DrainHold : OfDrain {
  int wanted = 0;
  static constexpr Traits kTraits{"DrainHold", ReasonCategory::kHolding};
  bool operator==(const DrainHold&) const = default;
  static constexpr void fields(auto& self, auto&& at) { OfDrain::fields(self, at), at("wanted", self.wanted); }
};
// It was still starting there, or still there at the end.
struct DrainStop : OfDrain {
  WorkerId worker = {};
  static constexpr Traits kTraits{"DrainStop", ReasonCategory::kWorker};
  bool operator==(const DrainStop&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("worker", self.worker, kIdentity), OfDrain::fields(self, at);
  }
};
// It waits: the nodes that are not being drained are too small for it.
struct NodesDrain {
  int needed = 0;
  int cluster = 0;   // slots that it may be on, without those that are being drained
  NodeId node = {};  // the first of the nodes that are
  bool reclaimed = false;
  std::optional<int> window = {};  // as above
  static constexpr Traits kTraits{"NodesDrain", ReasonCategory::kWaiting};
  bool operator==(const NodesDrain&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("cluster", self.cluster), at("node", self.node, kIdentity);
    at("reclaimed", self.reclaimed), at("window", self.window);
  }
};

// It waits: without the nodes that have failed again and again, and get no workers for a while, the pool is too small.
struct NodesUnsteady {
  int needed = 0;
  int cluster = 0;   // slots that it may be on, without those nodes and those that are being drained
  NodeId node = {};  // the first of them
  static constexpr Traits kTraits{"NodesUnsteady", ReasonCategory::kWaiting};
  bool operator==(const NodesUnsteady&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("cluster", self.cluster), at("node", self.node, kIdentity);
  }
};

}  // namespace tidepool::core::reason
