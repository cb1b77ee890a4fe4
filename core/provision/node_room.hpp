// Room on the nodes that are there and on those that are on their way, as jobs that wait would take it up. A thought
// only: nothing is placed by it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/id_set.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

class NodeRoom {
 public:
  explicit NodeRoom(const ClusterState& state);

  // Workers of the job that fit.
  [[nodiscard]] int workers_of(const Job& job) const;
  // Takes room for so many workers, the nodes that are there first. Requires: they fit.
  void take(const Job& job, int workers);
  // The same, with so many nodes of the pool more.
  void add(const PoolSpec& pool, int nodes);
  // The same without the node.
  void leave_out(NodeId node);

  // Slots on nodes that are on their way.
  [[nodiscard]] int coming() const;
  // Slots free on nodes that are there.
  [[nodiscard]] int free() const;
  // Nodes that are there and are kept: on them is room for a gang that needs other nodes, too.
  [[nodiscard]] const IdSet<NodeId>& held() const { return held_; }
  void hold_taken();
  // Keeps those too that so many workers of the job would take up. Takes nothing.
  void hold(const Job& job, int workers);

 private:
  struct Place {
    NodeId node;                     // none: on its way
    const Node* there = nullptr;     // null: on its way
    const PoolSpec* pool = nullptr;  // null: it is there
    int free = 0;
  };
  struct Share {
    std::size_t place = 0;  // of places_
    int slots = 0;
  };
  [[nodiscard]] static bool suits(const Job& job, const Place& place);
  // What so many workers of the job would take up where.
  [[nodiscard]] std::vector<Share> shares_of(const Job& job, int workers) const;

  std::vector<Place> places_;
  IdSet<NodeId> taken_;  // by the newest take()
  IdSet<NodeId> held_;
};

// A node of this kind may hold the job's workers.
[[nodiscard]] bool suits(const Job& job, const PoolSpec& pool);
// The workers that the job starts with, at least.
[[nodiscard]] int gang_of(const Job& job);

}  // namespace tidepool::core
