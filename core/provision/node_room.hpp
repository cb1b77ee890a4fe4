// Room for waiting jobs on nodes that exist or are coming, computed before further nodes are requested. An estimate: no
// placement is based on it.
//
// Rule: a job that does not mix slot types takes room of one type. If a pool names no type, the type of its nodes is
// unknown until the first has joined: until then their room counts for each type. For a job with groups
// (state/worker_groups.hpp) only whole groups fit, each in one domain. The labels of a node are unknown until it has
// joined: until then it is a domain of its own, except for the domain by slot type if its type is known.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/id_set.hpp"
#include "base/money.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/node_constraints.hpp"

namespace tidepool::core {

inline constexpr const char* kAnyType = "";

class NodeRoom {
 public:
  explicit NodeRoom(const ClusterState& state);

  // Slot types that its workers may use, each on its own; for a job that mixes types, all at once as kAnyType.
  [[nodiscard]] std::vector<std::string> types_for(const Job& job) const;
  // Workers of the job that fit on slots of the type.
  [[nodiscard]] int workers_of(const Job& job, const std::string& type) const;
  // The same on the type on which most fit.
  [[nodiscard]] int workers_of(const Job& job) const;
  // The first type on whose slots `workers` workers fit.
  [[nodiscard]] std::optional<std::string> type_with_room(const Job& job, int workers) const;
  // Workers that an additional node of the pool holds: in whole groups, unless groups may span several nodes of its
  // type.
  [[nodiscard]] int workers_on_more(const Job& job, const PoolSpec& pool) const;
  // Workers that fit on slots of the type in addition to whole groups, and that further nodes can complete to groups.
  [[nodiscard]] int workers_over(const Job& job, const std::string& type) const;
  // Takes room for `workers` workers, on existing nodes first. Requires: they fit.
  void take(const Job& job, int workers, const std::string& type);
  // Nodes of the pool have slots of the type, as far as known.
  [[nodiscard]] bool may_be_of(const PoolSpec& pool, const std::string& type) const;
  // Adds `nodes` more nodes of the pool.
  void add(const PoolSpec& pool, int nodes);
  // Removes the node.
  void leave_out(NodeId node);

  // Slots on nodes that are coming.
  [[nodiscard]] int coming() const { return coming_; }
  // Free slots on existing nodes.
  [[nodiscard]] int free() const { return free_; }
  // Existing nodes that are kept: they have room for a gang that also needs other nodes.
  [[nodiscard]] const IdSet<NodeId>& held() const { return held_; }
  void hold_taken();
  // Also keeps the nodes that `workers` workers of the job would occupy. Takes no room.
  void hold(const Job& job, int workers, const std::string& type);

 private:
  struct Place {
    NodeId node;                     // none: it is coming
    const Node* there = nullptr;     // null: it is coming
    const PoolSpec* pool = nullptr;  // null: it already exists
    int free = 0;
  };
  struct Share {
    std::size_t place = 0;  // index into places_
    int slots = 0;
  };
  // A domain within which a group must stay: identified by name, or as this place alone, counted from 1.
  using Domain = std::pair<std::size_t, std::string>;
  [[nodiscard]] bool suits(const Job& job, const Place& place, const std::string& type) const;
  // Groups of the job may span several nodes of the pool.
  [[nodiscard]] bool share_a_domain(const Job& job, const PoolSpec& pool) const;
  [[nodiscard]] Domain domain_at(const Job& job, std::size_t place) const;
  // Workers that fit into each domain, whole groups or not. All in one domain for a job without groups.
  [[nodiscard]] std::map<Domain, int> workers_by_domain(const Job& job, const std::string& type) const;
  // Distributes `workers` of them in whole groups over the domains.
  [[nodiscard]] std::map<Domain, int> workers_to_put(const Job& job, int workers, const std::string& type) const;
  // The places and slots that `workers` workers of the job would occupy.
  [[nodiscard]] std::vector<Share> shares_of(const Job& job, int workers, const std::string& type) const;

  // Everything that workers_of() depends on: the room for jobs with equal requests is computed once.
  struct Ask {
    NodeDemand demand;
    int gpus = 1;
    std::string type;
    int gang = 0;  // only for a job with a price cap
    Money cap;
    auto operator<=>(const Ask&) const = default;
  };

  std::vector<Place> places_;
  mutable std::map<Ask, int> known_;  // workers, for the present places_
  int coming_ = 0;
  int free_ = 0;
  std::map<std::string, std::string> type_of_pool_;  // by the pool's name; known types only
  std::set<std::string> types_;                      // of all places
  IdSet<NodeId> taken_;                              // by the newest take()
  IdSet<NodeId> held_;
};

// A node of this pool may hold the job's workers, and a whole group of them if a group must be on one node.
[[nodiscard]] bool suits(const Job& job, const PoolSpec& pool);
// Workers of the job that a node of a pool must have room for to be useful to the job.
[[nodiscard]] int workers_together(const JobSpec& spec);
// The smallest number of workers with which the job starts.
[[nodiscard]] int gang_of(const Job& job);

}  // namespace tidepool::core
