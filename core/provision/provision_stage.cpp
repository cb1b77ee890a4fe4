#include "core/provision/provision_stage.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/overloaded.hpp"
#include "core/provision/node_room.hpp"
#include "core/provision/slot_worth.hpp"

namespace tidepool::core {
namespace {

// A node is bought for growth only above this multiple of its price, and emptied below that one, so that a worth near
// the price moves nothing.
constexpr double kBuyAbove = 1.1;
constexpr double kSellBelow = 0.9;
constexpr Duration kDrainMost = Duration::seconds(600);
constexpr Duration kEndMargin = Duration::seconds(5);

Money scaled(Money money, double by) {
  return Money::micros(static_cast<std::int64_t>(static_cast<double>(money.count_micros()) * by));
}

reason::OfNode node_of(const PoolSpec& spec) {
  return {.slots = spec.slots_per_node, .price = spec.price_per_slot_hour, .lead = spec.lead_time};
}

bool waits_for_slots(const Job& job) {
  return job.state() == JobState::kPending && !job.requests.cancel && !job.requests.suspend &&
         !job.recovery.misconfigured;
}

bool runs_at_rest(const Job& job) {
  return job.state() == JobState::kRunning && job.membership.switched && !job.phase.transition() &&
         !job.progress.finished && !job.requests.cancel && !job.requests.suspend && job.requests.pinned_size == 0;
}

class NodePlanner {
 public:
  NodePlanner(const ClusterState& state, Instant now)
      : state_(state), now_(now), room_(state), next_request_(state.pools.next_request) {
    for (const auto& [name, pool] : state.pools.pools) by_price_.push_back(&pool);
    std::sort(by_price_.begin(), by_price_.end(), [](const NodePool* one, const NodePool* other) {
      return std::tie(one->spec.price_per_slot_hour, one->spec.name) <
             std::tie(other->spec.price_per_slot_hour, other->spec.name);
    });
  }

  std::vector<PlannedNode> run() && {
    for (const NodePool* pool : by_price_) fill_up(*pool);
    const bool gangs_wait = serve_gangs();
    for (const auto& [request, node] : state_.pools.nodes) let_go(node);
    if (planned_.empty() && !gangs_wait) buy_for_growth();
    if (planned_.empty() && !gangs_wait) sell();
    return std::move(planned_);
  }

 private:
  void plan(NodeIntent intent, const Reason& reason) { planned_.push_back({std::move(intent), reason}); }

  [[nodiscard]] int count(const PoolSpec& spec) const {
    const auto more = created_.find(spec.name);
    return state_.pools.count(spec.name) + (more == created_.end() ? 0 : more->second);
  }

  // Nodes that the pool may have beyond those it has, as of now.
  [[nodiscard]] int room_of(const NodePool& pool) const {
    if (pool.retired || pool.backoff.holds(now_)) return 0;
    return std::max(0, pool.spec.max - count(pool.spec));
  }

  // Nothing has happened since the pool has given a node back; one whose attempts fail tries again all the same.
  [[nodiscard]] bool is_settled(const NodePool& pool) const {
    return pool.settled_at == state_.pools.changes && pool.backoff.failures == 0;
  }

  // So many more nodes of spot pools would be too large a share of all.
  [[nodiscard]] int within_spot_share(const NodePool& pool, int nodes) const {
    if (!pool.spec.spot || state_.pools.spot_share >= 1) return nodes;
    int spot = 0;
    int all = 0;
    for (const NodePool* any : by_price_) {
      all += count(any->spec);
      if (any->spec.spot) spot += count(any->spec);
    }
    while (nodes > 0 && spot + nodes > state_.pools.spot_share * (all + nodes)) --nodes;
    return nodes;
  }

  std::string free_name(const std::string& pool) {
    for (int number = 1;; ++number) {
      const std::string name = pool + "-" + std::to_string(number);
      if (names_.contains(name) || state_.pools.find_name(name) != nullptr || is_up(name)) continue;
      names_.insert(name);
      return name;
    }
  }
  [[nodiscard]] bool is_up(const std::string& name) const {
    return std::any_of(state_.nodes.begin(), state_.nodes.end(),
                       [&](const auto& any) { return any.second.name == name && any.second.state == NodeState::kUp; });
  }

  void create(const PoolSpec& spec, const Reason& reason) {
    plan(CreateNodeIntent{.pool = spec.name, .request = next_request_++, .name = free_name(spec.name)}, reason);
    ++created_[spec.name];
    room_.add(spec, 1);
  }

  void fill_up(const NodePool& pool) {
    for (int nodes = state_.pools.staying(pool.spec.name); nodes < pool.spec.min; ++nodes) {
      if (room_of(pool) == 0) return;
      reason::NodeForMinimum why{node_of(pool.spec)};
      why.nodes = nodes;
      why.min = pool.spec.min;
      create(pool.spec, why);
    }
  }

  // Whether some gang waits for a node that is on its way, or will be.
  bool serve_gangs() {
    std::vector<const Job*> waiting;
    for (const auto& [id, job] : state_.jobs) {
      if (waits_for_slots(*job)) waiting.push_back(job.get());
    }
    std::sort(waiting.begin(), waiting.end(), [](const Job* one, const Job* other) {
      return std::tuple(-one->spec.priority, one->id) < std::tuple(-other->spec.priority, other->id);
    });
    bool any = false;
    for (const Job* job : waiting) any = serve(*job) || any;
    return any;
  }

  bool serve(const Job& job) {
    const int gang = gang_of(job);
    const int have = room_.workers_of(job);
    if (have < gang) {
      const std::vector<const PoolSpec*> nodes = nodes_for(job, gang - have);
      if (nodes.empty()) return false;
      for (const PoolSpec* spec : nodes) {
        reason::NodeForGang why{node_of(*spec)};
        why.job = job.id;
        why.needed = gang * job.spec.gpus_per_worker;
        why.room = have * job.spec.gpus_per_worker;
        why.nodes = static_cast<int>(nodes.size());
        create(*spec, why);
      }
    }
    const int coming = room_.coming();
    room_.take(job, gang);
    const bool needs_coming = room_.coming() < coming;
    if (needs_coming) room_.hold_taken();
    return needs_coming;
  }

  // The cheapest nodes that give room for so many workers more; none if there are not enough.
  [[nodiscard]] std::vector<const PoolSpec*> nodes_for(const Job& job, int workers) const {
    std::vector<const PoolSpec*> nodes;
    for (const NodePool* pool : by_price_) {
      if (workers <= 0) break;
      if (!suits(job, pool->spec) || is_settled(*pool)) continue;
      const int each = pool->spec.slots_per_node / job.spec.gpus_per_worker;
      const int wanted = std::min((workers + each - 1) / each, room_of(*pool));
      const int more = within_spot_share(*pool, wanted);
      nodes.insert(nodes.end(), static_cast<std::size_t>(more), &pool->spec);
      workers -= more * each;
    }
    if (workers > 0) nodes.clear();
    return nodes;
  }

  void let_go(const PoolNode& mine) {
    const NodePool& pool = *state_.pools.find(mine.pool);
    switch (mine.state) {
      case PoolNodeState::kAsked:
      case PoolNodeState::kCreated: return give_up_unless_joined(mine, pool);
      case PoolNodeState::kDraining:
        if (mine.idle_since)
          return plan(ReleaseNodeIntent{.request = mine.request, .name = mine.name}, reason::NodeEmptied{});
        return give_up_if_away(mine, pool);
      case PoolNodeState::kJoined: return let_joined_go(mine, pool);
      case PoolNodeState::kReleasing: return;
    }
  }

  void give_up_unless_joined(const PoolNode& mine, const NodePool& pool) {
    const Duration waited = now_ - mine.asked_at;
    if (waited < join_patience(pool.spec)) return;
    plan(ReleaseNodeIntent{.request = mine.request, .name = mine.name, .failed = true},
         reason::NodeNeverJoined{.waited = waited});
  }

  void give_up_if_away(const PoolNode& mine, const NodePool& pool) {
    if (!mine.away_since || now_ - *mine.away_since < join_patience(pool.spec)) return;
    plan(ReleaseNodeIntent{.request = mine.request, .name = mine.name},
         reason::NodeAway{.away = now_ - *mine.away_since});
  }

  void let_joined_go(const PoolNode& mine, const NodePool& pool) {
    if (mine.away_since) return give_up_if_away(mine, pool);
    if (nears_its_end(mine, now_)) {
      const Duration left = std::max(Duration(), *mine.ends_at - now_);
      return empty(mine, std::max(Duration(), left - kEndMargin), reason::NodeLifetimeEnds{.left = left});
    }
    const int staying = state_.pools.staying(mine.pool) - leaving_[mine.pool];
    if (staying > pool.spec.max) {
      return empty(mine, kDrainMost, reason::NodeSurplus{.nodes = staying, .max = pool.spec.max});
    }
    const bool is_idle = mine.idle_since && now_ - *mine.idle_since >= pool.spec.idle;
    if (!is_idle || staying <= pool.spec.min || room_.held().contains(mine.node)) return;
    ++leaving_[mine.pool];
    plan(ReleaseNodeIntent{.request = mine.request, .name = mine.name},
         reason::NodeIdle{.idle = now_ - *mine.idle_since,
                          .slots = pool.spec.slots_per_node,
                          .price = pool.spec.price_per_slot_hour,
                          .left = staying - 1});
  }

  void empty(const PoolNode& mine, Duration within, const Reason& reason) {
    ++leaving_[mine.pool];
    plan(EmptyNodeIntent{.request = mine.request, .name = mine.name, .within = within}, reason);
  }

  // One node at a time, for the job to which it is worth most; none while slots are free or on their way.
  void buy_for_growth() {
    if (room_.free() > 0 || room_.coming() > 0 || any_leaves()) return;
    for (const NodePool* pool : by_price_) {
      if (is_settled(*pool) || within_spot_share(*pool, std::min(1, room_of(*pool))) == 0) continue;
      std::optional<reason::NodeForGrowth> best;
      for (const auto& [id, job] : state_.jobs) {
        const auto found = growth_of(*job, pool->spec);
        if (found && (!best || found->use > best->use)) best = found;
      }
      if (best) return create(pool->spec, *best);
    }
  }

  [[nodiscard]] std::optional<reason::NodeForGrowth> growth_of(const Job& job, const PoolSpec& spec) const {
    if (!runs_at_rest(job) || !suits(job, spec) || job.spec.scaling.price_cap) return std::nullopt;
    const int size = job.size();
    const int most = size + spec.slots_per_node / job.spec.gpus_per_worker;
    // Policies try a size that was never measured only one doubling away.
    const int tried = job.measurements.sizes.empty() ? size : job.measurements.sizes.rbegin()->first;
    int to = size;
    for (const int allowed : job.spec.elastic.sizes) {
      if (allowed > to && allowed <= most && allowed <= std::max(2 * tried, job.spec.elastic.preferred)) to = allowed;
    }
    if (to == size || !job.measurements.sizes.contains(size)) return std::nullopt;
    // The slots that it would leave unused cost money, too.
    const double filled =
        static_cast<double>((to - size) * job.spec.gpus_per_worker) / static_cast<double>(spec.slots_per_node);
    const double use = use_of_more(job, size, to) * std::min(1.0, filled);
    const Money worth = scaled(spec.worth_per_slot_hour, use);
    if (worth <= scaled(spec.price_per_slot_hour, kBuyAbove)) return std::nullopt;
    reason::NodeForGrowth why;
    static_cast<reason::OfNode&>(why) = node_of(spec);
    why.job = job.id;
    why.from = size;
    why.to = to;
    why.use = use;
    why.worth = worth;
    return why;
  }

  [[nodiscard]] bool any_leaves() const {
    return std::any_of(state_.pools.nodes.begin(), state_.pools.nodes.end(), [](const auto& any) {
      return any.second.state == PoolNodeState::kDraining || any.second.state == PoolNodeState::kReleasing;
    });
  }

  // One node at a time, of the dearest pool first.
  void sell() {
    if (any_leaves()) return;
    for (auto pool = by_price_.rbegin(); pool != by_price_.rend(); ++pool) {
      const PoolSpec& spec = (*pool)->spec;
      if (state_.pools.staying(spec.name) <= spec.min) continue;
      for (const auto& [request, mine] : state_.pools.nodes) {
        const bool is_at_rest = mine.pool == spec.name && mine.state == PoolNodeState::kJoined && !mine.away_since &&
                                !mine.idle_since && now_ - std::max(mine.since, state_.pools.changed_at) >= spec.idle;
        const auto worth = is_at_rest ? worth_of(mine, spec) : std::nullopt;
        if (!worth || *worth >= scaled(spec.price_per_slot_hour, kSellBelow)) continue;
        return empty(
            mine, kDrainMost,
            reason::NodeNotWorth{.worth = *worth, .price = spec.price_per_slot_hour, .slots = spec.slots_per_node});
      }
    }
  }

  // What a slot of the node brings to the jobs there, beside having none of its slots; none: some job there cannot do
  // without, or changes.
  [[nodiscard]] std::optional<Money> worth_of(const PoolNode& mine, const PoolSpec& spec) const {
    std::map<JobId, int> workers;
    std::set<WorkerId> seen;
    for (const WorkerId owner : state_.find_node(mine.node)->owners) {
      if (owner && seen.insert(owner).second) ++workers[state_.find_worker(owner)->job];
    }
    double use = 0;
    for (const auto& [id, here] : workers) {
      const Job& job = *state_.find_job(id);
      const int rest = job.size() - here;
      const auto& sizes = job.spec.elastic.sizes;
      if (!runs_at_rest(job) || !std::binary_search(sizes.begin(), sizes.end(), rest)) return std::nullopt;
      if (!job.measurements.sizes.contains(job.size())) return std::nullopt;
      use += use_of_more(job, rest, job.size()) * here * job.spec.gpus_per_worker;
    }
    return scaled(spec.worth_per_slot_hour, use / spec.slots_per_node);
  }

  const ClusterState& state_;
  Instant now_;
  NodeRoom room_;
  NodeRequest next_request_;
  std::vector<const NodePool*> by_price_;  // the cheapest first
  std::vector<PlannedNode> planned_;
  std::map<std::string, int> created_;  // by this decision, by pool
  std::map<std::string, int> leaving_;  // likewise
  std::set<std::string> names_;         // given to them
};

}  // namespace

std::vector<PlannedNode> plan_nodes(const ClusterState& state, Instant now) {
  return state.pools.pools.empty() ? std::vector<PlannedNode>() : NodePlanner(state, now).run();
}

std::optional<Instant> next_provision_due(const ClusterState& state, std::optional<Instant> after) {
  std::optional<Instant> first;
  const auto consider = [&](Instant when) {
    if ((!after || when > *after) && (!first || when < *first)) first = when;
  };
  for (const auto& [name, pool] : state.pools.pools) {
    if (pool.backoff.failures > 0) consider(pool.backoff.until);
    consider(state.pools.changed_at + pool.spec.idle);
  }
  for (const auto& [request, mine] : state.pools.nodes) {
    const PoolSpec& spec = state.pools.find(mine.pool)->spec;
    const bool on_its_way = mine.state == PoolNodeState::kAsked || mine.state == PoolNodeState::kCreated;
    if (on_its_way) consider(mine.asked_at + join_patience(spec));
    if (mine.state == PoolNodeState::kJoined) consider(mine.since + spec.idle);
    if (mine.idle_since) consider(*mine.idle_since + spec.idle);
    if (mine.away_since) consider(*mine.away_since + join_patience(spec));
    if (mine.ends_at && mine.state == PoolNodeState::kJoined) consider(*mine.ends_at - lifetime_notice(mine));
  }
  return first;
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
