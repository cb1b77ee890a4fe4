// Placement of workers: each worker's slots are on one node, and a gang is placed whole or not at all, on few nodes:
// the remaining workers go to the smallest free room that takes them all, else to the emptiest node. For a job with a
// topology arrangement.hpp chooses. Deterministic: ties end at the lower node id and the lower slot.
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
  // The job of the workers: only nodes on which it may run (node_constraints.hpp). Null: any job's.
  const Job* job = nullptr;
  int workers = 1;
  int slots_per_worker = 1;
  std::set<NodeId> prefer;                   // nodes that the job already uses, filled first
  NodeId avoid;                              // used only if nothing else has room; none = no node
  NodeId first_on = {};                      // preferred node of the first worker; none = anywhere
  std::optional<Money> price_max = {};       // per slot-hour; more expensive nodes are not used
  bool avoid_always = false;                 // the avoided node is never used
  std::vector<std::string> slot_types = {};  // only nodes with slots of these types; empty = all
  std::vector<std::string> other_than = {};  // no nodes with slots of these types
  const Job* not_for = nullptr;              // no nodes on which this job may run; null = all
  bool one_type = false;                     // all workers on slots of the same type
  std::vector<NodeId> stay = {};             // nodes of the job's workers that stay, one entry each
  std::set<std::string> domains = {};  // only nodes of these domains (PlacementSpec::key); empty = all. Needs `job`
  bool steady = false;                 // no node with recent faults, except those that the job already uses
};

// The free slots of nodes that take workers (Node::takes_workers), reduced by what one decision allocates. Built once
// per decision, in O(nodes); the state must outlive it and not change meanwhile.
// Free slots of a node with workers of an exclusive job belong to that job: they count as free for no other.
class FreeSlots {
 public:
  // `exclusive`: the exclusive jobs that hold slots; null = they are searched for.
  explicit FreeSlots(const ClusterState& state, const IdSet<JobId>* exclusive = nullptr);

  // Takes the slots and returns them with worker ids starting at `next_worker`, which it advances; takes nothing if the
  // gang does not fit as a whole.
  [[nodiscard]] std::optional<std::vector<WorkerPlacement>> take(GangRequest gang, std::uint64_t& next_worker);

  // Takes slots for this many workers on each of these nodes. Requires: they have that many free ones.
  [[nodiscard]] std::vector<WorkerPlacement> take_on(const std::map<NodeId, int>& workers, int slots_per_worker,
                                                     std::uint64_t& next_worker);
  // At most `count` nodes with room for a worker of the gang, without the avoided node, those with most free slots
  // first.
  [[nodiscard]] std::vector<NodeId> emptiest(const GangRequest& gang, std::size_t count) const;
  // The node with the fewest free slots among those with at least `slots`, without `except` and the avoided node; none
  // = there is no such node.
  [[nodiscard]] NodeId smallest_with(int slots, const GangRequest& gang, const std::set<NodeId>& except = {}) const;
  // The gang may use the node: it takes workers, is not closed, and meets the gang's constraints.
  [[nodiscard]] bool may_take(NodeId node, const GangRequest& gang) const;
  // Slots, free or not, of the largest node that takes workers and on which the job may run; 0 = none.
  [[nodiscard]] int largest_for(const Job& job) const;

  // The number of workers with this many slots that still fit.
  [[nodiscard]] int room_for(int slots_per_worker) const;
  // The number of workers of the job that still fit on slots of an accepted type, at any price.
  [[nodiscard]] int room_for(const Job& job) const;
  // The number of workers like those of this gang that would fit, wherever it may be placed.
  [[nodiscard]] int room_for(const GangRequest& gang) const;
  // Their nodes: for a gang whose job has a topology rule. Needs its job.
  [[nodiscard]] std::vector<RoomOnNode> rooms_for(const GangRequest& gang) const;
  // Reserves the room that the job finds for this many workers.
  void hold_for(const Job& job, int workers);
  // Other jobs request slots of these types: a job that accepts any type is placed on them last.
  void spare(const std::set<std::string>& slot_types) { spared_ = slot_types; }
  // Closes nodes with slots of these types: the rest is not allocated and no longer counts as free.
  void close(const std::vector<std::string>& slot_types);
  // The same for nodes on which the job may run.
  void close_for(const Job& job);

  // A node reserved for an exclusive job is closed only to other jobs.
  [[nodiscard]] bool is_closed(NodeId node) const { return closed_.contains(node) || closed_kept_.contains(node); }
  // Some slots that are free in the state were taken or closed.
  [[nodiscard]] bool keeps_some() const { return closed_slots_ > 0 || !taken_on_.empty(); }

  // The nodes, up or not, have slots of more than one type.
  [[nodiscard]] bool has_several_types() const { return types_.size() > 1; }
  [[nodiscard]] const std::set<std::string>& types() const { return types_; }

  [[nodiscard]] int free() const { return free_; }
  // On nodes on which the job may run.
  [[nodiscard]] int free_for(const Job& job) const;
  [[nodiscard]] int free_of_type(const std::string& slot_type) const;
  // 0 on a node that is away, cordoned or closed, or has workers of an exclusive job.
  [[nodiscard]] std::size_t free_on(NodeId node) const;
  // The node has workers of an exclusive job.
  [[nodiscard]] bool is_kept(NodeId node) const { return kept_.contains(node); }
  // Slots of the node that were allocated.
  [[nodiscard]] int taken_on(NodeId node) const;
  // Free slots of nodes that only this exclusive job uses.
  [[nodiscard]] int kept_free(JobId job) const;

 private:
  // For a gang whose job is_arranged().
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
  // Within the price limit, and allowed for the gang.
  [[nodiscard]] bool suits(NodeId node, const GangRequest& gang) const;
  void move(NodeId node, std::size_t from, std::size_t to);
  [[nodiscard]] WorkerPlacement take_one(NodeId node, std::size_t slots, std::uint64_t& next_worker);

  const ClusterState& state_;
  std::vector<std::vector<NodeId>> nodes_with_;  // [n] = nodes with n free slots, ascending
  std::map<NodeId, std::vector<int>> taken_on_;  // slots taken since, ascending
  IdSet<NodeId> closed_;
  IdSet<NodeId> closed_kept_;
  int closed_slots_ = 0;          // that were free
  std::map<NodeId, JobId> kept_;  // by exclusive job; none = shared since before a job became exclusive
  std::set<std::string> spared_;  // types of slots
  std::set<std::string> types_;   // of all nodes
  std::map<std::string, int> free_of_type_;
  int free_ = 0;
  int largest_ = 0;  // slots of the largest node that takes workers
};

// The number of workers of the job that the cluster would hold if it were empty: on nodes that are up, not cordoned,
// and allowed, all on slots of one type unless it mixes them, and under its topology rules.
[[nodiscard]] int empty_cluster_capacity(const ClusterState& state, const Job& job);
// The same for a job that stays in its present domain.
[[nodiscard]] int capacity_in_place(const ClusterState& state, const Job& job);

}  // namespace tidepool::core
