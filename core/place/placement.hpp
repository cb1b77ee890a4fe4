// Where workers go: each worker's slots on one node, a gang whole or not at all and on few nodes: what is left of it
// goes to the smallest hole that takes it all, else to the emptiest node. Where its job says how they lie among
// domains, arrangement.hpp chooses. Deterministic: ties end at the lower node id and the lower slot.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/id_set.hpp"
#include "core/place/arrangement.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/node_constraints.hpp"
#include "core/state/plan.hpp"

namespace tidepool::core {

struct GangRequest {
  // Whose workers they are: only nodes on which it may run (node_constraints.hpp). Null: any job's.
  const Job* job = nullptr;
  int workers = 1;
  int slots_per_worker = 1;
  std::set<NodeId> prefer;                   // nodes that the job is on already, filled first
  NodeId avoid;                              // used only if nothing else has room; none = no node
  NodeId first_on = {};                      // where the first worker goes if there is room; none = anywhere
  std::optional<Money> price_max = {};       // per slot and hour; dearer nodes are not used
  bool avoid_always = false;                 // the avoided node is not used even then
  std::vector<std::string> slot_types = {};  // of those, only nodes whose slots are of one of these; empty = all
  std::vector<std::string> other_than = {};  // no nodes whose slots are of one of these
  const Job* not_for = nullptr;              // no nodes on which this job may run; null = all
  bool one_type = false;                     // all workers on slots of one type, whichever it is
  std::vector<NodeId> stay = {};             // where the job's workers are that stay beside these, one entry each
  std::set<std::string> domains = {};        // only nodes of these (PlacementSpec::key); empty = all. Needs `job`
  bool steady = false;                       // no node that has failed lately, but those that the job is on already
};

// The free slots of nodes that take workers (Node::takes_workers), as one decision uses them up. Built once a decision,
// in O(nodes); the state must outlive it and not change meanwhile.
// What is free on a node that has workers of an exclusive job is that job's alone: it counts as free for no other.
class FreeSlots {
 public:
  // `exclusive`: the exclusive jobs that hold slots; null = they are looked for.
  explicit FreeSlots(const ClusterState& state, const IdSet<JobId>* exclusive = nullptr);

  // Takes the slots and returns them with worker ids from `next_worker` on, which it advances; nothing
  // is taken if the gang does not fit whole.
  [[nodiscard]] std::optional<std::vector<WorkerPlacement>> take(GangRequest gang, std::uint64_t& next_worker);

  // Takes so many workers on each of these nodes, of so many slots each. Requires: they have that many free ones.
  [[nodiscard]] std::vector<WorkerPlacement> take_on(const std::map<NodeId, int>& workers, int slots_per_worker,
                                                     std::uint64_t& next_worker);
  // Nodes with room for a worker of the gang's, without the one that it avoids, those with most free slots first; at
  // most so many.
  [[nodiscard]] std::vector<NodeId> emptiest(const GangRequest& gang, std::size_t count) const;
  // That with the fewest free slots of those that have so many, without these nodes and the one that the gang avoids;
  // none = there is no such node.
  [[nodiscard]] NodeId smallest_with(int slots, const GangRequest& gang, const std::set<NodeId>& except = {}) const;
  // Workers of the gang may be on the node: it takes some, is not closed, and suits them.
  [[nodiscard]] bool may_take(NodeId node, const GangRequest& gang) const;
  // Slots, free or not, of the largest node that takes workers and on which the job may run; 0 = there is none.
  [[nodiscard]] int largest_for(const Job& job) const;

  // Workers of this many slots that still fit.
  [[nodiscard]] int room_for(int slots_per_worker) const;
  // Workers of the job that still fit on slots of a type that it takes, at any price.
  [[nodiscard]] int room_for(const Job& job) const;
  // Workers of this gang's kind that would fit, wherever it may be placed.
  [[nodiscard]] int room_for(const GangRequest& gang) const;
  // Where they would be, by node: those of a gang whose job has rules together. Needs its job.
  [[nodiscard]] std::vector<RoomOnNode> rooms_for(const GangRequest& gang) const;
  // What the job finds of room for so many workers is no other's.
  void hold_for(const Job& job, int workers);
  // Others ask for slots of these types: a job that takes any is placed on them last.
  void spare(const std::set<std::string>& slot_types) { spared_ = slot_types; }
  // What is left on nodes whose slots are of these types is not handed out and no longer counts as free.
  void close(const std::vector<std::string>& slot_types);
  // The same of nodes on which the job may run.
  void close_for(const Job& job);

  // One that is kept for an exclusive job is closed to the others alone.
  [[nodiscard]] bool is_closed(NodeId node) const { return closed_.contains(node) || closed_kept_.contains(node); }
  // Slots that the state has free were taken or closed: less is handed out than that.
  [[nodiscard]] bool keeps_some() const { return closed_slots_ > 0 || !taken_on_.empty(); }

  // The nodes, up or not, have slots of more than one type.
  [[nodiscard]] bool has_several_types() const { return types_.size() > 1; }
  [[nodiscard]] const std::set<std::string>& types() const { return types_; }

  [[nodiscard]] int free() const { return free_; }
  // Of nodes on which the job may run.
  [[nodiscard]] int free_for(const Job& job) const;
  [[nodiscard]] int free_of_type(const std::string& slot_type) const;
  // 0 on a node that is away, cordoned or closed, or has workers of an exclusive job.
  [[nodiscard]] std::size_t free_on(NodeId node) const;
  // The node has workers of an exclusive job.
  [[nodiscard]] bool is_kept(NodeId node) const { return kept_.contains(node); }
  // Slots of it that were handed out.
  [[nodiscard]] int taken_on(NodeId node) const;
  // Free slots of nodes on which only this exclusive job is.
  [[nodiscard]] int kept_free(JobId job) const;

 private:
  // Of a gang whose job is_arranged().
  [[nodiscard]] std::optional<std::vector<WorkerPlacement>> take_arranged(GangRequest gang, std::uint64_t& next_worker);
  [[nodiscard]] std::size_t left_on(NodeId node) const;  // whichever job it is kept for
  void find_kept(const IdSet<JobId>* exclusive);
  void keep_for(NodeId node, JobId job);
  [[nodiscard]] int room_anywhere(const GangRequest& gang) const;  // not all on one type
  [[nodiscard]] std::vector<std::string> types_open_to(const GangRequest& gang) const;
  [[nodiscard]] std::optional<std::string> type_for(const GangRequest& gang) const;
  [[nodiscard]] NodeId choose(const GangRequest& gang, int workers_left) const;
  [[nodiscard]] NodeId best_of(const GangRequest& gang, int workers_left) const;
  void close_where(const std::function<bool(const Node&)>& is_closed);
  // Not too dear, and one that the gang may be on.
  [[nodiscard]] bool suits(NodeId node, const GangRequest& gang) const;
  void move(NodeId node, std::size_t from, std::size_t to);
  [[nodiscard]] WorkerPlacement take_one(NodeId node, std::size_t slots, std::uint64_t& next_worker);

  const ClusterState& state_;
  std::vector<std::vector<NodeId>> nodes_with_;  // [n] = nodes with n free slots, ascending
  std::map<NodeId, std::vector<int>> taken_on_;  // slots taken since, ascending
  IdSet<NodeId> closed_;
  IdSet<NodeId> closed_kept_;
  int closed_slots_ = 0;          // that were free
  std::map<NodeId, JobId> kept_;  // for exclusive jobs; none = jobs were there together before one became exclusive
  std::set<std::string> spared_;  // types of slots
  std::set<std::string> types_;   // of all nodes
  std::map<std::string, int> free_of_type_;
  int free_ = 0;
  int largest_ = 0;  // slots of the largest node that takes workers
};

// Workers of the job that the cluster would hold if it were empty: on nodes that are up, not cordoned, and on which it
// may run, all on slots of one type unless it mixes them, and by its rules.
[[nodiscard]] int empty_cluster_capacity(const ClusterState& state, const Job& job);
// The same of a job that stays in the domain in which all its workers have to be.
[[nodiscard]] int capacity_in_place(const ClusterState& state, const Job& job);

}  // namespace tidepool::core
