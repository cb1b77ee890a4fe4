#include "core/provision/growth_nodes.hpp"

#include <algorithm>
#include <map>

#include "core/state/worker_groups.hpp"

namespace tidepool::core {
namespace {

constexpr int kFreeParts = 4;  // no node is bought for growth if 1 / kFreeParts of a node's slots is free

// Names the job that would take most of the node.
reason::NodeForGrowth told_of_growth(const NodesMore& more, const PoolSpec& spec) {
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

}  // namespace

void GrowthNodes::buy() {
  if (turn_.orders.room().coming() > 0 || any_goes(turn_.state)) return;
  for (const NodePool* pool : turn_.orders.by_price()) {
    const bool any_free = turn_.orders.room().free() * kFreeParts >= pool->spec.slots_per_node;
    const bool in_part = lacking_another(turn_.state.pools, pool->spec.name).has_value();
    if (any_free && !in_part && !any_in_groups()) continue;
    if (!turn_.targets.may_buy(*pool) || turn_.orders.within_bounds(*pool, 1) == 0) continue;
    const std::vector<SizeStep> steps =
        steps_up(turn_.state, {pool->spec, turn_.now, turn_.now + pool->spec.lead_time});
    if (any_free && any_fits(steps, in_part)) continue;
    if (buy_for_steps(*pool, steps)) return;
  }
}

// Buys the smallest number of nodes that is worth its price. Returns whether there is any.
bool GrowthNodes::buy_for_steps(const NodePool& pool, const std::vector<SizeStep>& steps) {
  const int most = turn_.orders.within_bounds(pool, nodes_for_a_step(steps, turn_.orders.room(), pool.spec));
  for (int nodes = 1; nodes <= most; ++nodes) {
    const auto why = growth_by({pool.spec, nodes}, steps);
    if (!why) continue;
    for (int i = 0; i < nodes; ++i) turn_.orders.create(pool.spec, *why);
    return true;
  }
  return false;
}

bool GrowthNodes::any_in_groups() const {
  return std::any_of(turn_.state.jobs.begin(), turn_.state.jobs.end(),
                     [](const auto& any) { return has_groups(any.second->spec) && runs_at_rest(*any.second); });
}

// Some job can use the free slots: a job with groups only if its whole step has room. `in_part`: only part of what was
// requested together has come, so this applies to every job.
bool GrowthNodes::any_fits(const std::vector<SizeStep>& steps, bool in_part) const {
  return std::any_of(steps.begin(), steps.end(), [&](const SizeStep& step) {
    const bool is_whole = in_part || has_groups(step.job->spec);
    return !is_whole || turn_.orders.room().workers_of(*step.job, step.type) >= step.to - step.from;
  });
}

// The best use that jobs could make of these nodes together, in addition to the free slots; slots that no job would
// take cost money, too.
std::optional<reason::NodeForGrowth> GrowthNodes::growth_by(const PoolNodes& nodes,
                                                            const std::vector<SizeStep>& steps) const {
  const PoolSpec& spec = nodes.pool;
  const NodesMore more = with_nodes_more(steps, {turn_.orders.room(), turn_.orders.room().free()}, nodes);
  const Money worth = scaled(spec.worth_per_slot_hour, more.use);
  if (worth <= scaled(spec.price_per_slot_hour, kBuyAbove)) return std::nullopt;
  reason::NodeForGrowth why = told_of_growth(more, spec);
  why.worth = worth;
  why.kept = lacking_another(turn_.state.pools, spec.name);
  return why;
}

}  // namespace tidepool::core
