// The node orders of one decision, and the limits that apply whatever the rule: a pool has no more nodes than its
// maximum and waits after failed attempts, spot nodes stay within their share, a gang gets all nodes that it lacks or
// none, and a node that does not come, is away for long or has been emptied is released.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/provision/node_room.hpp"
#include "core/provision/spot_share.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/plan.hpp"

namespace tidepool::core {

// Workers of a job for which room is searched together.
struct GangNeed {
  const Job* job;
  int workers = 0;
  std::optional<std::string> type{};  // the slot type to which it is bound; none: as the job requests
};

class NodeOrders {
 public:
  using MayBuy = std::function<bool(const NodePool&)>;
  NodeOrders(const ClusterState& state, Instant now);

  // The cheapest pool first.
  [[nodiscard]] const std::vector<const NodePool*>& by_price() const { return by_price_; }
  [[nodiscard]] const NodeRoom& room() const { return room_; }
  [[nodiscard]] bool any() const { return !planned_.empty(); }
  [[nodiscard]] std::vector<PlannedNode> take() && { return std::move(planned_); }

  void order(NodeIntent intent, const Reason& reason);
  void create(const PoolSpec& spec, const Reason& reason);
  // Orders nodes until the pool has at least `nodes`.
  void fill_up(const NodePool& pool);
  // Orders nodes for the gang if it does not fit, from pools whose nodes it may use. True: it waits for a node that is
  // coming, or was ordered now.
  bool serve(const GangNeed& need, const MayBuy& may_buy);
  // Keeps existing nodes that unserved gangs would occupy, if these gangs may be served soon: they are being preempted,
  // or nodes of pools are away or leaving and others may then come in their place.
  void keep_for(const std::vector<const Job*>& jobs, const MayBuy& may_buy);
  // True: the node has never joined, is away or has been emptied, and was either handled or must stay for now.
  bool give_up(const PoolNode& mine);

  // Nodes of the pool that this decision orders.
  [[nodiscard]] int created(const std::string& pool) const;
  // Nodes of the pool that are not leaving, and that this decision does not remove.
  [[nodiscard]] std::vector<const PoolNode*> staying_in(const PoolSpec& spec) const;
  // Of `nodes` additional nodes, those that the pool may have now.
  [[nodiscard]] int within_bounds(const NodePool& pool, int nodes) const;

 private:
  [[nodiscard]] int count(const PoolSpec& spec) const;
  [[nodiscard]] int room_of(const NodePool& pool) const;
  [[nodiscard]] std::vector<std::pair<const NodePool*, int>> nodes_soon(const MayBuy& may_buy) const;
  [[nodiscard]] int within_spot_share(const NodePool& pool, int nodes) const;
  // With `nodes` more nodes, `spot` of them in spot pools, the share of spot nodes would be too large.
  [[nodiscard]] bool is_beyond_spot_share(int spot, int nodes) const;
  [[nodiscard]] std::string free_name(const std::string& pool);
  [[nodiscard]] bool is_up(const std::string& name) const;
  // The cheapest nodes that give room for the gang's workers without room, on slots of the type; none if there are not
  // enough.
  [[nodiscard]] std::vector<const PoolSpec*> nodes_for(const GangNeed& need, const std::string& type,
                                                       const MayBuy& may_buy) const;
  // Ignores the share of spot nodes, but uses at most this many of them.
  [[nodiscard]] std::vector<const PoolSpec*> cheapest_for(const GangNeed& need, const std::string& type,
                                                          const MayBuy& may_buy, int spot_most) const;
  // The nodes of the type on which the gang costs least.
  struct Purchase {
    std::string type;
    int have = 0;  // workers that fit without these nodes
    std::vector<const PoolSpec*> nodes;
  };
  [[nodiscard]] Purchase purchase_for(const GangNeed& need, const MayBuy& may_buy) const;
  [[nodiscard]] std::vector<std::string> types_for(const GangNeed& need) const;
  void give_up_unless_joined(const PoolNode& mine);
  void give_up_if_away(const PoolNode& mine);

  const ClusterState& state_;
  Instant now_;
  NodeRoom room_;
  NodeRequest next_request_;
  std::vector<const NodePool*> by_price_;
  std::vector<PlannedNode> planned_;
  std::map<std::string, int> created_;  // by this decision, by pool
  PoolNodeCounts counts_;               // of all pools, including these orders
  std::set<std::string> names_;         // given to the ordered nodes
  std::set<NodeRequest> ordered_;       // requests that it orders, or that are affected by it
};

[[nodiscard]] bool waits_for_slots(const Job& job);
// Its workers park to make room, not because of a request of its user: it waits for slots next.
[[nodiscard]] bool is_being_preempted(const Job& job);
// Jobs that wait for slots, in the order in which they are served: by priority, then by age.
[[nodiscard]] std::vector<const Job*> waiting_jobs(const ClusterState& state);
// A waiting gang, and the slots that it lacks in addition to the room.
struct BacklogGang {
  const Job* job;
  int workers = 0;
  int slots_lacking = 0;
};
// Calls `serve` for each gang that the limits of tenants let start, in serving order. Room that `serve` takes or adds
// counts for the gangs after it.
void serve_backlog(const ClusterState& state, const NodeRoom& room,
                   const std::function<void(const BacklogGang&)>& serve);
// Workers that must leave nodes that are being drained, of jobs that continue: they move if there is room in time.
// Without workers on nodes that their pool releases because they are not worth their price.
[[nodiscard]] std::vector<GangNeed> moving_workers(const ClusterState& state, Instant now);
// The kind of node that the reasons of a node describe.
[[nodiscard]] reason::OfNode node_of(const PoolSpec& spec);
// Number of nodes of the pool that lack another one (node_pools.hpp), if there are any.
[[nodiscard]] std::optional<int> lacking_another(const NodePools& pools, const std::string& pool);
// When give_up() may next affect the node; none: not by time alone.
[[nodiscard]] std::optional<Instant> give_up_due(const ClusterState& state, const PoolNode& mine);

}  // namespace tidepool::core
