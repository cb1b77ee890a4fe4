#include "core/provision/provision_stage.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/first_after.hpp"
#include "base/overloaded.hpp"
#include "core/provision/gang_nodes.hpp"
#include "core/provision/growth_nodes.hpp"
#include "core/provision/node_orders.hpp"
#include "core/provision/node_returns.hpp"
#include "core/provision/node_sales.hpp"
#include "core/provision/provision_turn.hpp"
#include "core/tenants/preemption_limits.hpp"

namespace tidepool::core {
namespace {

class NodePlanner {
 public:
  NodePlanner(const ClusterState& state, Instant now) : turn_(state, now) {}

  std::vector<PlannedNode> run() && {
    NodeOrders& orders = turn_.orders;
    for (const NodePool* pool : orders.by_price()) orders.fill_up(*pool);
    for (const NodePool* pool : orders.by_price()) fill_to_wish(*pool);
    const bool gangs_wait = gangs_.serve();
    if (returns_.any_idle()) gangs_.keep_nodes();
    // A repeated request keeps the other nodes of its order.
    const bool asks_again = !orders.any() && !gangs_wait && returns_.any_lacks_another();
    if (asks_again) growth_.buy();
    returns_.let_go();
    if (!orders.any() && !gangs_wait && !asks_again) growth_.buy();
    if (!orders.any() && !gangs_wait && gangs_.slots_to_give() == 0) NodeSales(turn_).sell();
    return std::move(orders).take();
  }

 private:
  void fill_to_wish(const NodePool& pool) {
    const PoolTarget* target = turn_.targets.of(pool);
    if (target == nullptr) return;
    const int wanted = wanted_of(*target, pool.spec);
    int nodes = std::max(turn_.state.pools.staying(pool.spec.name), pool.spec.min);
    for (; nodes < wanted && turn_.orders.within_bounds(pool, 1) > 0; ++nodes) {
      turn_.orders.create(pool.spec, turn_.targets.why_more(pool, nodes));
    }
  }

  ProvisionTurn turn_;
  GangNodes gangs_{turn_};
  NodeReturns returns_{turn_};
  GrowthNodes growth_{turn_};
};

class BuiltInRule final : public ProvisionRule {
 public:
  [[nodiscard]] std::vector<PlannedNode> plan(const ClusterState& state, Instant now) const override;
  [[nodiscard]] std::optional<Instant> next_due(const ClusterState& state, std::optional<Instant> after) const override;
};

std::vector<PlannedNode> BuiltInRule::plan(const ClusterState& state, Instant now) const {
  return state.pools.pools.empty() ? std::vector<PlannedNode>() : NodePlanner(state, now).run();
}

std::optional<Instant> BuiltInRule::next_due(const ClusterState& state, std::optional<Instant> after) const {
  FirstAfter first(after);
  for (const auto& [name, pool] : state.pools.pools) {
    if (pool.backoff.failures > 0) first.consider(pool.backoff.until);
    first.consider(state.pools.changed_at + pool.spec.idle);
  }
  if (!state.pools.pools.empty()) {
    for (const auto& [id, job] : state.jobs) {
      if (!waits_for_slots(*job)) continue;
      for (const auto& [name, pool] : state.pools.pools) first.consider(waits_since(*job) + pool.spec.lead_time);
    }
  }
  for (const auto& [request, mine] : state.pools.nodes) {
    const PoolSpec& spec = state.pools.find(mine.pool)->spec;
    first.consider(give_up_due(state, mine));
    if (mine.state == PoolNodeState::kJoined) first.consider(mine.since + spec.idle);
    if (mine.idle_since) first.consider(*mine.idle_since + spec.idle);
    if (mine.ends_at && mine.state == PoolNodeState::kJoined) first.consider(*mine.ends_at - lifetime_notice(mine));
  }
  return first.found();
}

}  // namespace

int wanted_of(const PoolTarget& target, const PoolSpec& spec) {
  return std::clamp(target.nodes, spec.min, std::max(spec.min, spec.max));
}

std::shared_ptr<const ProvisionRule> built_in_rule() {
  static const auto rule = std::make_shared<const BuiltInRule>();
  return rule;
}

std::optional<std::string> broken_node_rule(const ClusterState& state, const std::vector<PlannedNode>& nodes) {
  std::map<std::string, int> count;
  std::set<NodeRequest> changed;
  std::set<std::string> names;
  NodeRequest next = state.pools.next_request;
  const auto create = [&](const CreateNodeIntent& intent) -> std::string {
    const NodePool* pool = state.pools.find(intent.pool);
    if (pool == nullptr || pool->retired) return "PoolExists: " + intent.pool;
    if (intent.request != next++) return "RequestIsNext: " + intent.name;
    if (state.pools.count(intent.pool) + ++count[intent.pool] > pool->spec.max) return "PoolHasRoom: " + intent.pool;
    const bool is_new = state.pools.find_name(intent.name) == nullptr && names.insert(intent.name).second;
    return is_new ? "" : "NameIsFree: " + intent.name;
  };
  const auto change = [&](NodeRequest request, bool may_hold_workers) -> std::string {
    const PoolNode* mine = state.pools.find_node(request);
    const std::string what = "request " + std::to_string(request);
    if (mine == nullptr || mine->state == PoolNodeState::kReleasing) return "NodeIsOfPool: " + what;
    if (!changed.insert(request).second) return "OneChangeAtATime: " + mine->name;
    const Node* node = state.find_node(mine->node);
    const bool lives = node != nullptr && node->state == NodeState::kUp;
    const bool holds = lives && std::any_of(node->owners.begin(), node->owners.end(), [](WorkerId id) { return !!id; });
    return holds && !may_hold_workers ? "EmptiedFirst: " + mine->name : "";
  };
  for (const auto& planned : nodes) {
    std::string broken =
        std::visit(Overloaded{[&](const CreateNodeIntent& intent) { return create(intent); },
                              [&](const EmptyNodeIntent& intent) { return change(intent.request, true); },
                              [&](const ReleaseNodeIntent& intent) { return change(intent.request, false); }},
                   planned.intent);
    if (!broken.empty()) return broken;
  }
  return std::nullopt;
}

}  // namespace tidepool::core
