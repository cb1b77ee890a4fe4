#include "core/provision/provision_stage.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/first_after.hpp"
#include "base/overloaded.hpp"
#include "core/provision/node_orders.hpp"
#include "core/provision/size_steps.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/worker_groups.hpp"
#include "core/tenants/preemption_limits.hpp"

namespace tidepool::core {
namespace {

// A node is bought for growth only above this multiple of its price, and emptied below that one, so that a worth near
// the price moves nothing.
constexpr double kBuyAbove = 1.1;
constexpr double kSellBelow = 0.9;
constexpr int kFreeParts = 4;   // with one of so many parts of a node's slots free no node is bought for growth
constexpr int kFailsToEnd = 2;  // attempts to end a node that have failed in a row

Money scaled(Money money, double by) {
  return Money::micros(static_cast<std::int64_t>(static_cast<double>(money.count_micros()) * by));
}

class NodePlanner {
 public:
  NodePlanner(const ClusterState& state, Instant now) : state_(state), now_(now), orders_(state, now) {}

  std::vector<PlannedNode> run() && {
    for (const NodePool* pool : orders_.by_price()) orders_.fill_up(*pool);
    for (const NodePool* pool : orders_.by_price()) fill_to_wish(*pool);
    const bool gangs_wait = serve_gangs();
    keep_nodes();
    // What is asked for again keeps others.
    const bool asks_again = !orders_.any() && !gangs_wait && any_lacks_another();
    if (asks_again) buy_for_growth();
    for (const auto& [request, node] : state_.pools.nodes) let_go(node);
    if (!orders_.any() && !gangs_wait && !asks_again) buy_for_growth();
    if (!orders_.any() && !gangs_wait && slots_to_give_ == 0) sell();
    return std::move(orders_).take();
  }

 private:
  // Nothing has happened since the pool has given a node back; one whose attempts fail tries again all the same.
  [[nodiscard]] bool is_settled(const NodePool& pool) const {
    return pool.settled_at == state_.pools.changes && pool.backoff.failures == 0;
  }

  // Of the policy file in charge; null: the built-in rule decides.
  [[nodiscard]] const PoolWish* wish_of(const NodePool& pool) const {
    return state_.deployment.active ? state_.deployment.wish_for(pool.spec.name) : nullptr;
  }
  // Whether the built-in rule may ask for nodes of the pool.
  [[nodiscard]] bool may_buy(const NodePool& pool) const { return wish_of(pool) == nullptr && !is_settled(pool); }
  // So many nodes it keeps, whatever they hold.
  [[nodiscard]] int least_of(const NodePool& pool) const {
    const PoolWish* wish = wish_of(pool);
    return wish == nullptr ? pool.spec.min : wanted_of(*wish, pool.spec);
  }

  void fill_to_wish(const NodePool& pool) {
    const PoolWish* wish = wish_of(pool);
    if (wish == nullptr) return;
    const int wanted = wanted_of(*wish, pool.spec);
    int nodes = std::max(state_.pools.staying(pool.spec.name), pool.spec.min);
    for (; nodes < wanted && orders_.within_bounds(pool, 1) > 0; ++nodes) {
      reason::NodeForPolicy why{node_of(pool.spec)};
      tell_wish(pool, nodes, why);
      orders_.create(pool.spec, why);
    }
  }

  // Requires: the policy file wants something of the pool.
  template <class Why>
  void tell_wish(const NodePool& pool, int nodes, Why& why) const {
    const PoolWish& wish = *wish_of(pool);
    why.nodes = nodes;
    why.wanted = wanted_of(wish, pool.spec);
    why.word = wish.word;
    why.numbers = wish.numbers;
    Why::fields(std::as_const(why), [&](std::string_view own, const auto&, unsigned = reason::kPlain) {
      std::erase_if(why.numbers, [&](const ReasonNumber& each) { return each.name == own; });
    });
  }

  // Whether some gang waits for a node that is on its way, or will be.
  bool serve_gangs() {
    bool any = false;
    for (const GangNeed& need : moving_workers(state_, now_)) {
      any = orders_.serve(need, [&](const NodePool& pool) { return may_buy(pool); }) || any;
    }
    serve_backlog(state_, orders_.room(), [&](const BacklogGang& gang) { any = serve_waiting(gang) || any; });
    return any;
  }

  // Whether it waits for a node that is on its way, or will be.
  bool serve_waiting(const BacklogGang& gang) {
    bool gives_way = false;
    const auto may_buy_for_it = [&](const NodePool& pool) {
      if (wish_of(pool) != nullptr) return false;
      gives_way = gives_way || others_give_way(*gang.job, pool.spec, gang.slots_lacking);
      return !is_settled(pool) && !gives_way;
    };
    const bool waits_for_nodes = orders_.serve({.job = gang.job, .workers = gang.workers}, may_buy_for_it);
    if (!waits_for_nodes && gang.slots_lacking > 0) not_served_.push_back(gang.job);
    if (gives_way) slots_to_give_ += gang.slots_lacking;
    return waits_for_nodes;
  }

  // Nodes that were given back now would be bought again in a moment.
  void keep_nodes() {
    const auto is_due = [&](const auto& any) { return is_idle(any.second); };
    if (std::none_of(state_.pools.nodes.begin(), state_.pools.nodes.end(), is_due)) return;
    for (const auto& [id, job] : state_.jobs) {
      if (is_being_preempted(*job)) not_served_.push_back(job.get());
    }
    orders_.keep_for(not_served_, [&](const NodePool& pool) { return may_buy(pool); });
  }

  // Jobs that run can give the slots that the gang lacks and lose less than they cost. Where the policy does not have
  // them do so, the gang gets nodes once it has waited for as long as one takes to come.
  [[nodiscard]] bool others_give_way(const Job& job, const PoolSpec& spec, int lacking) {
    const bool is_apart = gang_of(job) == 1 || !(job.spec.pack_node || has_groups(job.spec));
    const bool any_slots_do = job.spec.gpus_per_worker == 1 && is_apart;
    if (!any_slots_do || now_ - waits_since(job) >= spec.lead_time) return false;
    const auto [known, is_first] = steps_down_.try_emplace(spec.slot_type);
    if (is_first) known->second = steps_down(state_, spec.slot_type);
    const std::vector<SizeStep>& steps = known->second;
    const auto before = lost_with(steps, slots_to_give_);
    const auto with_it = lost_with(steps, slots_to_give_ + lacking);
    if (!before || !with_it) return false;
    return scaled(spec.worth_per_slot_hour, (*with_it - *before) / lacking) <=
           scaled(spec.price_per_slot_hour, kBuyAbove);
  }

  [[nodiscard]] bool is_idle(const PoolNode& mine) const {
    return mine.idle_since && now_ - *mine.idle_since >= state_.pools.find(mine.pool)->spec.idle;
  }

  // What was bought together is of use together, and may come one after another.
  [[nodiscard]] bool is_joined_by_others(const PoolNode& mine) const {
    return std::any_of(state_.pools.nodes.begin(), state_.pools.nodes.end(), [&](const auto& any) {
      return any.second.pool == mine.pool && any.second.is_coming() && any.second.asked_at == mine.asked_at;
    });
  }

  [[nodiscard]] bool any_lacks_another() const {
    return std::any_of(state_.pools.nodes.begin(), state_.pools.nodes.end(),
                       [&](const auto& any) { return lacks_another(any.second, *state_.pools.find(any.second.pool)); });
  }

  // One of them has failed to come and is asked for again, or will be once its pool may be asked.
  [[nodiscard]] bool awaits_another(const PoolNode& mine, const NodePool& pool) const {
    if (!lacks_another(mine, pool)) return false;
    if (pool.backoff.holds(now_) || orders_.created(mine.pool) > 0) return true;
    return std::any_of(state_.pools.nodes.begin(), state_.pools.nodes.end(), [&](const auto& any) {
      return any.second.pool == mine.pool && any.second.is_coming() && any.second.asked_at > pool.backoff.failed_at;
    });
  }

  void let_go(const PoolNode& mine) {
    const NodePool& pool = *state_.pools.find(mine.pool);
    if (pool.retired || orders_.give_up(mine)) return;  // a retired pool has no provider to end its nodes
    if (nears_its_end(mine, now_)) {
      const Duration left = std::max(Duration(), *mine.ends_at - now_);
      return empty(mine, std::max(Duration(), left - kEndMargin), reason::NodeLifetimeEnds{.left = left});
    }
    const int staying = state_.pools.staying(mine.pool) - leaving_[mine.pool];
    if (staying > pool.spec.max) {
      return empty(mine, kEmptiedWithin, reason::NodeSurplus{.nodes = staying, .max = pool.spec.max});
    }
    if (!is_idle(mine) || staying <= least_of(pool) || orders_.room().held().contains(mine.node)) return;
    if (is_joined_by_others(mine) || awaits_another(mine, pool)) return;
    ++leaving_[mine.pool];
    orders_.order(ReleaseNodeIntent{.request = mine.request, .name = mine.name}, why_given_back(mine, pool, staying));
  }

  [[nodiscard]] Reason why_given_back(const PoolNode& mine, const NodePool& pool, int staying) const {
    const Duration idle = now_ - *mine.idle_since;
    if (wish_of(pool) != nullptr) return beyond_wish(pool, staying, idle);
    return reason::NodeIdle{
        .idle = idle, .slots = pool.spec.slots_per_node, .price = pool.spec.price_per_slot_hour, .left = staying - 1};
  }

  [[nodiscard]] reason::NodeBeyondPolicy beyond_wish(const NodePool& pool, int staying,
                                                     std::optional<Duration> idle) const {
    reason::NodeBeyondPolicy why{.idle = idle};
    tell_wish(pool, staying, why);
    return why;
  }

  void empty(const PoolNode& mine, Duration within, const Reason& reason) {
    ++leaving_[mine.pool];
    orders_.order(EmptyNodeIntent{.request = mine.request, .name = mine.name, .within = within}, reason);
  }

  // One node at a time, or as many as a step of a job needs together, for the jobs to which they are worth most; none
  // while one is on its way, or slots are free that the policy does not use.
  void buy_for_growth() {
    if (orders_.room().coming() > 0 || any_goes()) return;
    for (const NodePool* pool : orders_.by_price()) {
      const bool any_free = orders_.room().free() * kFreeParts >= pool->spec.slots_per_node;
      const bool in_part = lacking_another(state_.pools, pool->spec.name).has_value();
      if (any_free && !in_part && !any_in_groups()) continue;
      if (!may_buy(*pool) || orders_.within_bounds(*pool, 1) == 0) continue;
      const std::vector<SizeStep> steps = steps_up(state_, {pool->spec, now_, now_ + pool->spec.lead_time});
      if (any_free && any_fits(steps, in_part)) continue;
      if (buy_for_steps(*pool, steps)) return;
    }
  }

  // As few as pay together. Whether any.
  bool buy_for_steps(const NodePool& pool, const std::vector<SizeStep>& steps) {
    const int most = orders_.within_bounds(pool, nodes_for_a_step(steps, orders_.room(), pool.spec));
    for (int nodes = 1; nodes <= most; ++nodes) {
      const auto why = growth_by({pool.spec, nodes}, steps);
      if (!why) continue;
      for (int i = 0; i < nodes; ++i) orders_.create(pool.spec, *why);
      return true;
    }
    return false;
  }

  [[nodiscard]] bool any_in_groups() const {
    return std::any_of(state_.jobs.begin(), state_.jobs.end(),
                       [](const auto& any) { return has_groups(any.second->spec) && runs_at_rest(*any.second); });
  }

  // What is free would do for some job; what is left beside whole groups does for none with groups. `in_part`: nor does
  // a part of what was asked for together for any step that needs more.
  [[nodiscard]] bool any_fits(const std::vector<SizeStep>& steps, bool in_part) const {
    return std::any_of(steps.begin(), steps.end(), [&](const SizeStep& step) {
      const bool is_whole = in_part || has_groups(step.job->spec);
      return !is_whole || orders_.room().workers_of(*step.job, step.type) >= step.to - step.from;
    });
  }

  // The best that jobs could make of the nodes together, beside what is free; slots that none would take cost money,
  // too.
  [[nodiscard]] std::optional<reason::NodeForGrowth> growth_by(const PoolNodes& nodes,
                                                               const std::vector<SizeStep>& steps) const {
    const PoolSpec& spec = nodes.pool;
    const NodesMore more = with_nodes_more(steps, {orders_.room(), orders_.room().free()}, nodes);
    const Money worth = scaled(spec.worth_per_slot_hour, more.use);
    if (worth <= scaled(spec.price_per_slot_hour, kBuyAbove)) return std::nullopt;
    reason::NodeForGrowth why = told_of(more, spec);
    why.worth = worth;
    why.kept = lacking_another(state_.pools, spec.name);
    return why;
  }

  // Names the job that would take most of it.
  [[nodiscard]] static reason::NodeForGrowth told_of(const NodesMore& more, const PoolSpec& spec) {
    std::map<JobId, SizeStep> grown;
    for (const SizeStep& step : more.best) grown.try_emplace(step.job->id, step).first->second.to = step.to;
    const auto most = std::max_element(grown.begin(), grown.end(), [](const auto& one, const auto& other) {
      return one.second.slots() < other.second.slots();
    });
    reason::NodeForGrowth why{node_of(spec)};
    why.job = most->first;
    why.from = most->second.from;
    why.to = most->second.to;
    why.use = more.use;
    return why;
  }

  // Some node will soon be gone that has been there. One that no provider ends any more, or whose provider fails to, is
  // not waited for.
  [[nodiscard]] bool any_goes() const {
    return std::any_of(state_.pools.nodes.begin(), state_.pools.nodes.end(), [&](const auto& any) {
      const PoolNode& mine = any.second;
      return mine.is_leaving() && mine.node && mine.backoff.failures < kFailsToEnd &&
             !state_.pools.find(mine.pool)->retired;
    });
  }

  // One node at a time, of the dearest pool first, and of a pool the one that holds least.
  void sell() {
    if (any_goes()) return;
    for (auto pool = orders_.by_price().rbegin(); pool != orders_.by_price().rend(); ++pool) {
      const PoolSpec& spec = (*pool)->spec;
      const int staying = state_.pools.staying(spec.name);
      if (staying <= least_of(**pool) || has_idle(spec)) continue;
      const std::vector<const PoolNode*> at_rest = at_rest_in(spec);
      if (at_rest.empty()) continue;
      const std::vector<SizeStep> into_free =
          best_within(steps_up(state_, {spec, now_, now_}), {orders_.room(), orders_.room().free()});
      for (const PoolNode* mine : at_rest) {
        const auto worth = worth_of(*mine, spec, into_free);
        if (!worth) continue;
        if (wish_of(**pool) != nullptr) return empty(*mine, kEmptiedWithin, beyond_wish(**pool, staying, {}));
        if (*worth >= scaled(spec.price_per_slot_hour, kSellBelow)) continue;
        return empty(
            *mine, kEmptiedWithin,
            reason::NodeNotWorth{.worth = *worth, .price = spec.price_per_slot_hour, .slots = spec.slots_per_node});
      }
    }
  }

  // A node that holds nothing is given back before one that holds workers is emptied.
  [[nodiscard]] bool has_idle(const PoolSpec& spec) const {
    return std::any_of(state_.pools.nodes.begin(), state_.pools.nodes.end(), [&](const auto& any) {
      return any.second.pool == spec.name && any.second.state == PoolNodeState::kJoined && any.second.idle_since;
    });
  }

  [[nodiscard]] std::vector<const PoolNode*> at_rest_in(const PoolSpec& spec) const {
    std::vector<const PoolNode*> nodes;
    for (const auto& [request, mine] : state_.pools.nodes) {
      const bool is_at_rest = mine.pool == spec.name && mine.state == PoolNodeState::kJoined && !mine.away_since &&
                              !mine.idle_since && now_ - std::max(mine.since, state_.pools.changed_at) >= spec.idle;
      if (is_at_rest) nodes.push_back(&mine);
    }
    std::sort(nodes.begin(), nodes.end(), [&](const PoolNode* one, const PoolNode* other) {
      return std::tuple(held(*one), one->request) < std::tuple(held(*other), other->request);
    });
    return nodes;
  }

  // Slots.
  [[nodiscard]] std::ptrdiff_t held(const PoolNode& mine) const {
    const auto& owners = state_.find_node(mine.node)->owners;
    return std::count_if(owners.begin(), owners.end(), [](WorkerId owner) { return bool(owner); });
  }

  // For the workers of a node that have no room elsewhere.
  struct Lacking {
    int slots = 0;                 // that jobs give up, whichever lose least by it
    std::vector<SizeStep> groups;  // that jobs give up of their own: the slots of others may be in no domain
  };

  // What a slot of the node brings: what jobs would lose without it, wherever they lose least, if they made the best
  // of what is free. None: some job there cannot go elsewhere now, or all will soon have ended.
  [[nodiscard]] std::optional<Money> worth_of(const PoolNode& mine, const PoolSpec& spec,
                                              const std::vector<SizeStep>& into_free) const {
    std::map<JobId, std::vector<WorkerId>> workers;
    std::set<WorkerId> seen;
    for (const WorkerId owner : state_.find_node(mine.node)->owners) {
      if (owner && seen.insert(owner).second) workers[state_.find_worker(owner)->job].push_back(owner);
    }
    NodeRoom elsewhere(state_);
    elsewhere.leave_out(mine.node);
    Lacking lacking;
    bool any_stays = false;
    for (const auto& [id, on_it] : workers) {
      const Job& job = *state_.find_job(id);
      if (!may_move(job)) return std::nullopt;
      const auto here = static_cast<int>(with_groups(job, on_it).size());
      const std::string type = job.spec.mixed_types ? kAnyType : state_.find_node(mine.node)->slot_type;
      const int fit = std::min(here, elsewhere.workers_of(job, type));
      elsewhere.take(job, fit, type);
      if (here > fit && !add_lacking(job, here - fit, lacking)) return std::nullopt;
      const auto end = expected_end(job);
      any_stays = any_stays || !end || *end - now_ > kEmptiedWithin;
    }
    if (!any_stays) return std::nullopt;
    const auto lost = lost_without(mine, spec, lacking, into_free);
    if (!lost) return std::nullopt;
    return scaled(spec.worth_per_slot_hour, *lost / spec.slots_per_node);
  }

  // False: the workers that have no room elsewhere need slots in a place of their own, and cannot be given up.
  [[nodiscard]] static bool add_lacking(const Job& job, int workers, Lacking& lacking) {
    if (!has_groups(job.spec)) {
      lacking.slots += workers;
      return job.spec.gpus_per_worker == 1;
    }
    const auto step = step_down(job, workers);
    if (step) lacking.groups.push_back(*step);
    return step.has_value();
  }

  // In slots fully used; none: jobs cannot give up those that lack for its workers.
  [[nodiscard]] std::optional<double> lost_without(const PoolNode& mine, const PoolSpec& spec, const Lacking& lacking,
                                                   const std::vector<SizeStep>& into_free) const {
    std::vector<SizeStep> steps = steps_down(state_, state_.find_node(mine.node)->slot_type);
    int unused = orders_.room().free();
    for (const SizeStep& given : lacking.groups) {
      unused += given.slots();
      std::erase_if(steps, [&](const SizeStep& step) { return step.job == given.job; });
    }
    if (!lost_with(steps, lacking.slots)) return std::nullopt;
    for (const SizeStep& step : into_free) {
      unused -= step.slots();
      steps.push_back(step);
    }
    sort_by_use(steps);
    const auto lost = lost_with(steps, std::max(0, spec.slots_per_node - unused));
    if (!lost) return std::nullopt;
    return use_of(lacking.groups) + *lost;
  }

  [[nodiscard]] static bool may_move(const Job& job) {
    return runs_at_rest(job) && job.spec.preemptible && !(job.spec.pack_node && job.size() > 1);
  }

  const ClusterState& state_;
  Instant now_;
  NodeOrders orders_;
  std::map<std::string, int> leaving_;                       // by this decision, by pool
  std::map<std::string, std::vector<SizeStep>> steps_down_;  // by slot type, as far as asked
  std::vector<const Job*> not_served_;                       // they wait, or will in a moment
  int slots_to_give_ = 0;                                    // that jobs are to give to gangs that wait
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

int wanted_of(const PoolWish& wish, const PoolSpec& spec) {
  return std::clamp(wish.nodes, spec.min, std::max(spec.min, spec.max));
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
