// Room for waiting jobs on nodes that are there or on their way, as it is counted before further nodes are asked for.
// An estimate: nothing is placed by it.
//
// Rule: a job that does not mix slot types takes room of one type. Where a pool names no type, that of its nodes is not
// known before the first has joined: until then their room counts for each type. Of a job with groups
// (state/worker_groups.hpp) only whole groups fit, each in one domain. Which labels a node will have is not known
// before it has joined: until then it is a domain of its own, but for the type of its slots, where that is known.
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

  // Types of slots that its workers may be of, each by itself; of a job that mixes them all at once, as kAnyType.
  [[nodiscard]] std::vector<std::string> types_for(const Job& job) const;
  // Workers of the job that fit on slots of the type.
  [[nodiscard]] int workers_of(const Job& job, const std::string& type) const;
  // On those of the type on which most fit.
  [[nodiscard]] int workers_of(const Job& job) const;
  // The first type on whose slots so many fit.
  [[nodiscard]] std::optional<std::string> type_with_room(const Job& job, int workers) const;
  // Workers that a node of the pool more holds: in whole groups, unless groups may be on several nodes of its type.
  [[nodiscard]] int workers_on_more(const Job& job, const PoolSpec& pool) const;
  // Workers that fit on slots of the type beside whole groups, and with those of nodes more are groups, too.
  [[nodiscard]] int workers_over(const Job& job, const std::string& type) const;
  // Takes room for so many workers, the nodes that are there first. Requires: they fit.
  void take(const Job& job, int workers, const std::string& type);
  // Nodes of the pool have slots of the type, as far as is known.
  [[nodiscard]] bool may_be_of(const PoolSpec& pool, const std::string& type) const;
  // The same, with so many nodes of the pool more.
  void add(const PoolSpec& pool, int nodes);
  // The same without the node.
  void leave_out(NodeId node);

  // Slots on nodes that are on their way.
  [[nodiscard]] int coming() const { return coming_; }
  // Slots free on nodes that are there.
  [[nodiscard]] int free() const { return free_; }
  // Nodes that are there and are kept: on them is room for a gang that needs other nodes, too.
  [[nodiscard]] const IdSet<NodeId>& held() const { return held_; }
  void hold_taken();
  // Keeps those too that so many workers of the job would take up. Takes nothing.
  void hold(const Job& job, int workers, const std::string& type);

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
  // Of those among which a group may not be split: by name, or of this place alone, counted from 1.
  using Domain = std::pair<std::size_t, std::string>;
  [[nodiscard]] bool suits(const Job& job, const Place& place, const std::string& type) const;
  // Groups of the job may be on several nodes of the pool.
  [[nodiscard]] bool share_a_domain(const Job& job, const PoolSpec& pool) const;
  [[nodiscard]] Domain domain_at(const Job& job, std::size_t place) const;
  // Workers that fit into each domain, whole groups or not. All in one of a job without groups.
  [[nodiscard]] std::map<Domain, int> workers_by_domain(const Job& job, const std::string& type) const;
  // Of so many of them, whole groups in each domain.
  [[nodiscard]] std::map<Domain, int> workers_to_put(const Job& job, int workers, const std::string& type) const;
  // What so many workers of the job would take up where.
  [[nodiscard]] std::vector<Share> shares_of(const Job& job, int workers, const std::string& type) const;

  // All that workers_of() goes by: the room for jobs that ask for the same is counted once.
  struct Ask {
    NodeDemand demand;
    int gpus = 1;
    std::string type;
    int gang = 0;  // of a job with a price cap
    Money cap;
    auto operator<=>(const Ask&) const = default;
  };

  std::vector<Place> places_;
  mutable std::map<Ask, int> known_;  // workers, as places_ are now
  int coming_ = 0;
  int free_ = 0;
  std::map<std::string, std::string> type_of_pool_;  // by its name; those that are known
  std::set<std::string> types_;                      // of all places
  IdSet<NodeId> taken_;                              // by the newest take()
  IdSet<NodeId> held_;
};

// A node of this kind may hold the job's workers, and a whole group of them where a group has to be on one node.
[[nodiscard]] bool suits(const Job& job, const PoolSpec& pool);
// Workers of the job that a node of a pool must have room for, if it is to be of use to it.
[[nodiscard]] int workers_together(const JobSpec& spec);
// The workers that the job starts with, at least.
[[nodiscard]] int gang_of(const Job& job);

}  // namespace tidepool::core
