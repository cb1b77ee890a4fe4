#include "core/provision/node_orders.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>

#include "core/state/budget_hold.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/worker_groups.hpp"
#include "core/tenants/start_limits.hpp"

namespace tidepool::core {
namespace {

int spot_in(const std::vector<const PoolSpec*>& nodes) {
  return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [](const PoolSpec* spec) { return spec->spot; }));
}

}  // namespace

bool waits_for_slots(const Job& job) {
  return job.state() == JobState::kPending && !job.requests.cancel && !job.requests.suspend && !is_withheld(job) &&
         !job.recovery.misconfigured;
}

bool is_being_preempted(const Job& job) {
  return job.state() == JobState::kSuspending && !job.requests.cancel && !job.requests.suspend && !is_withheld(job);
}

NodeOrders::NodeOrders(const ClusterState& state, Instant now)
    : state_(state),
      now_(now),
      room_(state),
      next_request_(state.pools.next_request),
      counts_(count_nodes(state.pools)) {
  for (const auto& [name, pool] : state.pools.pools) by_price_.push_back(&pool);
  std::sort(by_price_.begin(), by_price_.end(), [](const NodePool* one, const NodePool* other) {
    return std::tie(one->spec.price_per_slot_hour, one->spec.name) <
           std::tie(other->spec.price_per_slot_hour, other->spec.name);
  });
}

void NodeOrders::order(NodeIntent intent, const Reason& reason) {
  std::visit([&](const auto& any) { ordered_.insert(any.request); }, intent);
  planned_.push_back({std::move(intent), reason});
}

void NodeOrders::create(const PoolSpec& spec, const Reason& reason) {
  order(CreateNodeIntent{.pool = spec.name, .request = next_request_++, .name = free_name(spec.name)}, reason);
  ++created_[spec.name];
  counts_.add(spec, 1);
  room_.add(spec, 1);
}

void NodeOrders::fill_up(const NodePool& pool) {
  for (int nodes = state_.pools.staying(pool.spec.name); nodes < pool.spec.min; ++nodes) {
    if (room_of(pool) == 0) return;
    reason::NodeForMinimum why{node_of(pool.spec)};
    why.nodes = nodes;
    why.min = pool.spec.min;
    create(pool.spec, why);
  }
}

std::vector<std::string> NodeOrders::types_for(const GangNeed& need) const {
  return need.type ? std::vector{*need.type} : room_.types_for(*need.job);
}

bool NodeOrders::serve(const GangNeed& need, const MayBuy& may_buy) {
  const Job& job = *need.job;
  const auto has_room = [&](const std::string& type) { return room_.workers_of(job, type) >= need.workers; };
  const std::vector<std::string> types = types_for(need);
  auto type = std::find_if(types.begin(), types.end(), has_room);
  if (type == types.end()) {
    const Purchase bought = purchase_for(need, may_buy);
    if (bought.nodes.empty()) return false;
    type = std::find(types.begin(), types.end(), bought.type);
    for (const PoolSpec* spec : bought.nodes) {
      reason::NodeForGang why{node_of(*spec)};
      why.job = job.id;
      why.needed = need.workers * job.spec.gpus_per_worker;
      why.room = bought.have * job.spec.gpus_per_worker;
      why.nodes = static_cast<int>(bought.nodes.size());
      why.kept = lacking_another(state_.pools, spec->name);
      create(*spec, why);
    }
  }
  const int coming = room_.coming();
  room_.take(job, need.workers, *type);
  const bool needs_coming = room_.coming() < coming;
  if (needs_coming) room_.hold_taken();
  return needs_coming;
}

void NodeOrders::keep_for(const std::vector<const Job*>& jobs, const MayBuy& may_buy) {
  const auto soon = nodes_soon(may_buy);
  for (const Job* job : jobs) {
    for (const std::string& type : room_.types_for(*job)) {
      const int gang = gang_of(*job);
      const int have = std::min(gang, room_.workers_of(*job, type));
      const int lacking = is_being_preempted(*job) ? 0 : gang - have;
      int more = room_.workers_over(*job, type);
      for (const auto& [pool, nodes] : soon) {
        const bool helps = suits(*job, pool->spec) && room_.may_be_of(pool->spec, type);
        if (helps) more += nodes * room_.workers_on_more(*job, pool->spec);
      }
      if (lacking <= more) room_.hold(*job, have, type);
    }
  }
}

// Nodes that pools may have once those that are away or leaving no longer count.
std::vector<std::pair<const NodePool*, int>> NodeOrders::nodes_soon(const MayBuy& may_buy) const {
  std::map<std::string, int> replaceable;
  for (const auto& [request, mine] : state_.pools.nodes) {
    if (mine.is_leaving() || mine.away_since) ++replaceable[mine.pool];
  }
  std::vector<std::pair<const NodePool*, int>> soon;
  for (const NodePool* pool : by_price_) {
    if (pool->retired || pool->backoff.holds(now_) || !may_buy(*pool)) continue;
    soon.emplace_back(pool, room_of(*pool) + replaceable[pool->spec.name]);
  }
  return soon;
}

bool NodeOrders::give_up(const PoolNode& mine) {
  switch (mine.state) {
    case PoolNodeState::kAsked:
    case PoolNodeState::kCreated: give_up_unless_joined(mine); return true;
    case PoolNodeState::kDraining:
      if (mine.idle_since) {
        order(ReleaseNodeIntent{.request = mine.request, .name = mine.name}, reason::NodeEmptied{});
      } else {
        give_up_if_away(mine);
      }
      return true;
    case PoolNodeState::kJoined:
      if (mine.away_since) give_up_if_away(mine);
      return mine.away_since.has_value();
    case PoolNodeState::kReleasing: return true;
  }
  return true;
}

void NodeOrders::give_up_unless_joined(const PoolNode& mine) {
  if (now_ < joins_by(mine, state_.pools.find(mine.pool)->spec)) return;
  order(ReleaseNodeIntent{.request = mine.request, .name = mine.name, .failed = true},
        reason::NodeNeverJoined{.waited = now_ - mine.since});
}

void NodeOrders::give_up_if_away(const PoolNode& mine) {
  if (!mine.away_since || now_ - *mine.away_since < join_patience(state_.pools.find(mine.pool)->spec)) return;
  order(ReleaseNodeIntent{.request = mine.request, .name = mine.name},
        reason::NodeAway{.away = now_ - *mine.away_since});
}

int NodeOrders::within_bounds(const NodePool& pool, int nodes) const {
  return within_spot_share(pool, std::min(nodes, room_of(pool)));
}

int NodeOrders::created(const std::string& pool) const {
  const auto more = created_.find(pool);
  return more == created_.end() ? 0 : more->second;
}

std::vector<const PoolNode*> NodeOrders::staying_in(const PoolSpec& spec) const {
  std::vector<const PoolNode*> nodes;
  for (const auto& [request, mine] : state_.pools.nodes) {
    if (mine.pool == spec.name && !mine.is_leaving() && !ordered_.contains(request)) nodes.push_back(&mine);
  }
  return nodes;
}

int NodeOrders::count(const PoolSpec& spec) const {
  return state_.pools.count(spec.name) + created(spec.name);
}

// Additional nodes that the pool may have now.
int NodeOrders::room_of(const NodePool& pool) const {
  if (pool.retired || pool.backoff.holds(now_)) return 0;
  return std::max(0, pool.spec.max - count(pool.spec));
}

int NodeOrders::within_spot_share(const NodePool& pool, int nodes) const {
  while (pool.spec.spot && nodes > 0 && is_beyond_spot_share(nodes, nodes)) --nodes;
  return nodes;
}

bool NodeOrders::is_beyond_spot_share(int spot, int nodes) const {
  return PoolNodeCounts{.spot = counts_.spot + spot, .all = counts_.all + nodes}.exceed(state_.pools.spot_share);
}

std::string NodeOrders::free_name(const std::string& pool) {
  for (int number = 1;; ++number) {
    const std::string name = pool + "-" + std::to_string(number);
    if (names_.contains(name) || state_.pools.find_name(name) != nullptr || is_up(name)) continue;
    names_.insert(name);
    return name;
  }
}

bool NodeOrders::is_up(const std::string& name) const {
  return std::any_of(state_.nodes.begin(), state_.nodes.end(),
                     [&](const auto& any) { return any.second.name == name && any.second.state == NodeState::kUp; });
}

// Nodes of other pools that are ordered with them count for the share of spot nodes. Each pool is asked about once.
std::vector<const PoolSpec*> NodeOrders::nodes_for(const GangNeed& need, const std::string& type,
                                                   const MayBuy& may_buy) const {
  std::map<std::string, bool> known;
  const auto may_buy_once = [&](const NodePool& pool) {
    const auto [answer, is_first] = known.try_emplace(pool.spec.name, false);
    if (is_first) answer->second = may_buy(pool);
    return answer->second;
  };
  auto nodes = cheapest_for(need, type, may_buy_once, INT32_MAX);
  for (int spot = spot_in(nodes); spot > 0 && is_beyond_spot_share(spot, static_cast<int>(nodes.size()));
       spot = spot_in(nodes)) {
    nodes = cheapest_for(need, type, may_buy_once, spot - 1);
  }
  return nodes;
}

std::vector<const PoolSpec*> NodeOrders::cheapest_for(const GangNeed& need, const std::string& type,
                                                      const MayBuy& may_buy, int spot_most) const {
  const Job& job = *need.job;
  // Whole groups are missing, so workers that fit but are fewer than a group count together with the ordered nodes.
  int workers = need.workers - room_.workers_of(job, type) - room_.workers_over(job, type);
  std::vector<const PoolSpec*> nodes;
  for (const NodePool* pool : by_price_) {
    if (workers <= 0) break;
    const int each = room_.workers_on_more(job, pool->spec);
    if (each == 0 || !suits(job, pool->spec) || !room_.may_be_of(pool->spec, type) || !may_buy(*pool)) continue;
    const int most = pool->spec.spot ? std::min(room_of(*pool), spot_most) : room_of(*pool);
    const int more = std::min(most, (workers + each - 1) / each);
    nodes.insert(nodes.end(), static_cast<std::size_t>(more), &pool->spec);
    if (pool->spec.spot) spot_most -= more;
    workers -= more * each;
  }
  if (workers > 0) nodes.clear();
  return nodes;
}

NodeOrders::Purchase NodeOrders::purchase_for(const GangNeed& need, const MayBuy& may_buy) const {
  const auto cost = [](const Purchase& any) {
    std::int64_t micros = 0;
    for (const PoolSpec* spec : any.nodes) micros += spec->price_per_slot_hour.count_micros() * spec->slots_per_node;
    return std::pair(any.nodes.empty(), micros);
  };
  Purchase best;
  for (const std::string& type : types_for(need)) {
    Purchase bought{.type = type, .have = room_.workers_of(*need.job, type), .nodes = nodes_for(need, type, may_buy)};
    if (cost(bought) < cost(best)) best = std::move(bought);
  }
  return best;
}

std::vector<const Job*> waiting_jobs(const ClusterState& state) {
  std::vector<const Job*> waiting;
  for (const auto& [id, job] : state.jobs) {
    if (waits_for_slots(*job)) waiting.push_back(job.get());
  }
  std::sort(waiting.begin(), waiting.end(), [](const Job* one, const Job* other) {
    return std::tuple(-one->spec.priority, one->id) < std::tuple(-other->spec.priority, other->id);
  });
  return waiting;
}

void serve_backlog(const ClusterState& state, const NodeRoom& room,
                   const std::function<void(const BacklogGang&)>& serve) {
  StartLimits limits(state);
  for (const Job* job : waiting_jobs(state)) {
    const int gang = gang_of(*job);
    const int lacking = std::max(0, gang - room.workers_of(*job)) * job->spec.gpus_per_worker;
    if (!limits.allow(*job, room.coming() + lacking)) continue;
    limits.take(*job);
    serve({.job = job, .workers = gang, .slots_lacking = lacking});
  }
}

namespace {

bool is_given_back(const ClusterState& state, NodeId node) {
  const PoolNode* mine = state.pools.find_node(node);
  return mine != nullptr && mine->is_leaving() && !mine->ends_at;
}

bool runs_on(const Job& job, Instant until) {
  if (job.state() != JobState::kRunning || !job.membership.switched || job.phase.transition()) return false;
  if (job.progress.finished || job.requests.cancel || job.requests.suspend || job.hold) return false;
  const auto end = expected_end(job);
  return !end || *end > until;
}

}  // namespace

std::vector<GangNeed> moving_workers(const ClusterState& state, Instant now) {
  std::map<std::pair<JobId, std::string>, std::vector<WorkerId>> workers;  // by the type on which they are
  for (const auto& [id, node] : state.nodes) {
    if (!node.drain || node.state != NodeState::kUp || node.drain->deadline <= now || is_given_back(state, id))
      continue;
    const std::set<WorkerId> owners(node.owners.begin(), node.owners.end());
    for (const WorkerId owner : owners) {
      const Worker* worker = state.find_worker(owner);
      if (worker == nullptr || worker->is_gone() || worker->kill_at) continue;
      const Job& job = *state.find_job(worker->job);
      if (runs_on(job, node.drain->deadline)) workers[{job.id, node.slot_type}].push_back(owner);
    }
  }
  std::vector<GangNeed> needs;
  for (const auto& [job_on_type, leaving] : workers) {
    const Job* job = state.find_job(job_on_type.first);
    needs.push_back({.job = job, .workers = static_cast<int>(with_groups(*job, leaving).size())});
    if (!job->spec.mixed_types) needs.back().type = job_on_type.second;
  }
  return needs;
}

reason::OfNode node_of(const PoolSpec& spec) {
  return {.slots = spec.slots_per_node, .price = spec.price_per_slot_hour, .lead = spec.lead_time};
}

std::optional<int> lacking_another(const NodePools& pools, const std::string& pool) {
  const auto nodes = std::count_if(pools.nodes.begin(), pools.nodes.end(), [&](const auto& any) {
    return any.second.pool == pool && lacks_another(any.second, *pools.find(pool));
  });
  return nodes == 0 ? std::nullopt : std::optional(static_cast<int>(nodes));
}

std::optional<Instant> give_up_due(const ClusterState& state, const PoolNode& mine) {
  const PoolSpec& spec = state.pools.find(mine.pool)->spec;
  if (mine.is_coming()) return joins_by(mine, spec);
  if (mine.away_since) return *mine.away_since + join_patience(spec);
  return std::nullopt;
}

}  // namespace tidepool::core
