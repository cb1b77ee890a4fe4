#include "core/provision/node_sales.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/provision/node_room.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/worker_groups.hpp"

namespace tidepool::core {

void NodeSales::sell() {
  if (any_goes(turn_.state)) return;
  for (auto pool = turn_.orders.by_price().rbegin(); pool != turn_.orders.by_price().rend(); ++pool) {
    if (sell_one_of(**pool)) return;
  }
}

bool NodeSales::sell_one_of(const NodePool& pool) {
  const PoolSpec& spec = pool.spec;
  const int staying = turn_.state.pools.staying(spec.name);
  if (staying <= turn_.targets.least_of(pool) || has_idle(spec)) return false;
  const std::vector<const PoolNode*> at_rest = at_rest_in(spec);
  if (at_rest.empty()) return false;
  const std::vector<SizeStep> into_free = best_within(steps_up(turn_.state, {spec, turn_.now, turn_.now}),
                                                      {turn_.orders.room(), turn_.orders.room().free()});
  for (const PoolNode* mine : at_rest) {
    const auto worth = worth_of(*mine, spec, into_free);
    if (!worth) continue;
    if (turn_.targets.of(pool) != nullptr) {
      empty(*mine, turn_.targets.why_fewer(pool, staying, {}));
      return true;
    }
    if (*worth >= scaled(spec.price_per_slot_hour, kSellBelow)) continue;
    empty(*mine,
          reason::NodeNotWorth{.worth = *worth, .price = spec.price_per_slot_hour, .slots = spec.slots_per_node});
    return true;
  }
  return false;
}

void NodeSales::empty(const PoolNode& mine, const Reason& reason) {
  turn_.orders.order(EmptyNodeIntent{.request = mine.request, .name = mine.name, .within = kEmptiedWithin}, reason);
}

// A node that holds nothing is released before a node with workers is emptied.
bool NodeSales::has_idle(const PoolSpec& spec) const {
  return std::any_of(turn_.state.pools.nodes.begin(), turn_.state.pools.nodes.end(), [&](const auto& any) {
    return any.second.pool == spec.name && any.second.state == PoolNodeState::kJoined && any.second.idle_since;
  });
}

std::vector<const PoolNode*> NodeSales::at_rest_in(const PoolSpec& spec) const {
  std::vector<const PoolNode*> nodes;
  for (const auto& [request, mine] : turn_.state.pools.nodes) {
    const bool is_at_rest = mine.pool == spec.name && mine.state == PoolNodeState::kJoined && !mine.away_since &&
                            !mine.idle_since &&
                            turn_.now - std::max(mine.since, turn_.state.pools.changed_at) >= spec.idle;
    if (is_at_rest) nodes.push_back(&mine);
  }
  std::sort(nodes.begin(), nodes.end(), [&](const PoolNode* one, const PoolNode* other) {
    return std::tuple(held(*one), one->request) < std::tuple(held(*other), other->request);
  });
  return nodes;
}

// Slots.
std::ptrdiff_t NodeSales::held(const PoolNode& mine) const {
  const auto& owners = turn_.state.find_node(mine.node)->owners;
  return std::count_if(owners.begin(), owners.end(), [](WorkerId owner) { return bool(owner); });
}

std::map<JobId, std::vector<WorkerId>> NodeSales::workers_on(const PoolNode& mine) const {
  std::map<JobId, std::vector<WorkerId>> workers;
  std::set<WorkerId> seen;
  for (const WorkerId owner : turn_.state.find_node(mine.node)->owners) {
    if (owner && seen.insert(owner).second) workers[turn_.state.find_worker(owner)->job].push_back(owner);
  }
  return workers;
}

// The worth of a slot of the node: what jobs would lose without the node, wherever the loss is smallest, if they used
// the free slots as well as possible. None: some job there cannot move now, or all will soon have ended.
std::optional<Money> NodeSales::worth_of(const PoolNode& mine, const PoolSpec& spec,
                                         const std::vector<SizeStep>& into_free) const {
  const auto lacking = lacking_without(mine);
  if (!lacking) return std::nullopt;
  const auto lost = lost_without(mine, spec, *lacking, into_free);
  if (!lost) return std::nullopt;
  return scaled(spec.worth_per_slot_hour, *lost / spec.slots_per_node);
}

// None: as for worth_of().
std::optional<NodeSales::Lacking> NodeSales::lacking_without(const PoolNode& mine) const {
  NodeRoom elsewhere(turn_.state);
  elsewhere.leave_out(mine.node);
  Lacking lacking;
  bool any_stays = false;
  for (const auto& [id, on_it] : workers_on(mine)) {
    const Job& job = *turn_.state.find_job(id);
    if (!may_move(job)) return std::nullopt;
    const auto here = static_cast<int>(with_groups(job, on_it).size());
    const std::string type = job.spec.mixed_types ? kAnyType : turn_.state.find_node(mine.node)->slot_type;
    const int fit = std::min(here, elsewhere.workers_of(job, type));
    elsewhere.take(job, fit, type);
    if (here > fit && !add_lacking(job, here - fit, lacking)) return std::nullopt;
    const auto end = expected_end(job);
    any_stays = any_stays || !end || *end - turn_.now > kEmptiedWithin;
  }
  return any_stays ? std::optional(std::move(lacking)) : std::nullopt;
}

bool NodeSales::may_move(const Job& job) {
  return runs_at_rest(job) && job.spec.preemptible && !(job.spec.pack_node && job.size() > 1);
}

// False: the workers without room elsewhere need slots in a place of their own, and cannot be given up.
bool NodeSales::add_lacking(const Job& job, int workers, Lacking& lacking) {
  if (!has_groups(job.spec)) {
    lacking.slots += workers;
    return job.spec.gpus_per_worker == 1;
  }
  const auto step = step_down(job, workers);
  if (step) lacking.groups.push_back(*step);
  return step.has_value();
}

// In fully used slots; none: jobs cannot release as many as its workers lack.
std::optional<double> NodeSales::lost_without(const PoolNode& mine, const PoolSpec& spec, const Lacking& lacking,
                                              const std::vector<SizeStep>& into_free) const {
  std::vector<SizeStep> steps = steps_down(turn_.state, turn_.state.find_node(mine.node)->slot_type);
  int unused = turn_.orders.room().free();
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

}  // namespace tidepool::core
