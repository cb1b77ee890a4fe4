// What one decision orders of nodes, and what holds for it whatever the rule: a pool has no more nodes than it may and
// waits after attempts that failed, spot nodes stay within their share, a gang gets all nodes that it lacks or none,
// and a node that does not come, is away for long or has been emptied is given back.
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

// Workers of a job for which room is looked for together.
struct GangNeed {
  const Job* job;
  int workers = 0;
  std::optional<std::string> type{};  // of slot, to which it is bound; none: as the job has it
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
  // So many nodes that the pool has at least.
  void fill_up(const NodePool& pool);
  // Nodes for the gang where it does not fit, of pools of which it may have any. True: it waits for a node that is on
  // its way, or will be.
  bool serve(const GangNeed& need, const MayBuy& may_buy);
  // Keeps the nodes that are there and would be taken up by gangs that have not been served, where they may be soon:
  // they are being preempted, or nodes of pools are away or on their way out and others may then come in their place.
  void keep_for(const std::vector<const Job*>& jobs, const MayBuy& may_buy);
  // True: the node has never joined, is away or has been emptied, and was dealt with, or is to be left alone for now.
  bool give_up(const PoolNode& mine);

  // Nodes of the pool that this decision asks for.
  [[nodiscard]] int created(const std::string& pool) const;
  // Nodes of the pool that are not on their way out, and that this decision does not send there.
  [[nodiscard]] std::vector<const PoolNode*> staying_in(const PoolSpec& spec) const;
  // Of so many nodes more, those that the pool may have as of now.
  [[nodiscard]] int within_bounds(const NodePool& pool, int nodes) const;

 private:
  [[nodiscard]] int count(const PoolSpec& spec) const;
  [[nodiscard]] int room_of(const NodePool& pool) const;
  [[nodiscard]] std::vector<std::pair<const NodePool*, int>> nodes_soon(const MayBuy& may_buy) const;
  [[nodiscard]] int within_spot_share(const NodePool& pool, int nodes) const;
  // With so many nodes more, of which so many are of spot pools, these would be too large a share of all.
  [[nodiscard]] bool is_beyond_spot_share(int spot, int nodes) const;
  [[nodiscard]] std::string free_name(const std::string& pool);
  [[nodiscard]] bool is_up(const std::string& name) const;
  // The cheapest nodes that give room for the workers of the gang that lack it on slots of the type; none if there are
  // not enough.
  [[nodiscard]] std::vector<const PoolSpec*> nodes_for(const GangNeed& need, const std::string& type,
                                                       const MayBuy& may_buy) const;
  // Whatever the share of spot nodes is, with at most so many of these.
  [[nodiscard]] std::vector<const PoolSpec*> cheapest_for(const GangNeed& need, const std::string& type,
                                                          const MayBuy& may_buy, int spot_most) const;
  // Those of the type on which the gang costs least.
  struct Purchase {
    std::string type;
    int have = 0;  // workers that fit without them
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
  PoolNodeCounts counts_;               // of all pools, with these
  std::set<std::string> names_;         // given to them
  std::set<NodeRequest> ordered_;       // that it asks for, or that go by it
};

[[nodiscard]] bool waits_for_slots(const Job& job);
// Its workers park to make room, not because its user asked for it: it waits for slots next.
[[nodiscard]] bool is_being_preempted(const Job& job);
// Jobs that wait for slots, in the order in which they are served: by priority, then by age.
[[nodiscard]] std::vector<const Job*> waiting_jobs(const ClusterState& state);
// A gang that waits, and the slots that it lacks beside the room.
struct BacklogGang {
  const Job* job;
  int workers = 0;
  int slots_lacking = 0;
};
// Each that the limits of tenants let start, in the order in which they are served. What `serve` takes of the room, or
// has come to it, counts for those after it.
void serve_backlog(const ClusterState& state, const NodeRoom& room,
                   const std::function<void(const BacklogGang&)>& serve);
// Workers that have to leave nodes that are being drained, of jobs that run on: they move where there is room in time.
// Not from nodes that their pool gives back because they are not worth their price.
[[nodiscard]] std::vector<GangNeed> moving_workers(const ClusterState& state, Instant now);
// What the reasons of a node tell of its kind.
[[nodiscard]] reason::OfNode node_of(const PoolSpec& spec);
// Nodes of the pool that lack another one (node_pools.hpp), if any do.
[[nodiscard]] std::optional<int> lacking_another(const NodePools& pools, const std::string& pool);
// When give_up() may have something to do with the node; none: not by time alone.
[[nodiscard]] std::optional<Instant> give_up_due(const ClusterState& state, const PoolNode& mine);

}  // namespace tidepool::core
