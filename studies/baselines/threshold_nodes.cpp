#include "studies/baselines/threshold_nodes.hpp"

#include <map>
#include <string>
#include <utility>

#include "base/first_after.hpp"
#include "core/provision/node_orders.hpp"

namespace tidepool::studies {
namespace {

using core::PoolNode;
using core::PoolNodeState;

bool is_idle_for(const PoolNode& mine, Duration least, Instant now) {
  return mine.state == PoolNodeState::kJoined && mine.idle_since && now - *mine.idle_since >= least;
}

}  // namespace

std::vector<core::PlannedNode> ThresholdNodes::plan(const core::ClusterState& state, Instant now) const {
  if (state.pools.pools.empty()) return {};
  core::NodeOrders orders(state, now);
  for (const core::NodePool* pool : orders.by_price()) orders.fill_up(*pool);
  for (const core::Job* job : core::waiting_jobs(state)) {
    const bool has_waited = now - job->submitted_at >= patience_;
    (void)orders.serve({.job = job, .workers = core::gang_of(*job)}, [&](const core::NodePool&) { return has_waited; });
  }
  std::map<std::string, int> leaving;
  for (const auto& [request, mine] : state.pools.nodes) {
    const core::PoolSpec& spec = state.pools.find(mine.pool)->spec;
    const int staying = state.pools.staying(mine.pool) - leaving[mine.pool];
    if (orders.give_up(mine) || staying <= spec.min || !is_idle_for(mine, spec.idle, now)) continue;
    if (orders.room().held().contains(mine.node)) continue;
    ++leaving[mine.pool];
    orders.order(core::ReleaseNodeIntent{.request = request, .name = mine.name},
                 core::reason::NodeIdle{.idle = now - *mine.idle_since,
                                        .slots = spec.slots_per_node,
                                        .price = spec.price_per_slot_hour,
                                        .left = staying - 1});
  }
  return std::move(orders).take();
}

std::optional<Instant> ThresholdNodes::next_due(const core::ClusterState& state, std::optional<Instant> after) const {
  FirstAfter first(after);
  if (state.pools.pools.empty()) return first.found();
  for (const auto& [id, job] : state.jobs) {
    if (core::waits_for_slots(*job)) first.consider(job->submitted_at + patience_);
  }
  for (const auto& [name, pool] : state.pools.pools) {
    if (pool.backoff.failures > 0) first.consider(pool.backoff.until);
  }
  for (const auto& [request, mine] : state.pools.nodes) {
    if (mine.idle_since) first.consider(*mine.idle_since + state.pools.find(mine.pool)->spec.idle);
    first.consider(core::give_up_due(state, mine));
  }
  return first.found();
}

Result<std::shared_ptr<const core::ProvisionRule>> provision_rule_of(std::string_view text) {
  constexpr std::string_view kThreshold = "threshold:";
  if (text == "built-in") return std::shared_ptr<const core::ProvisionRule>();
  if (text.starts_with(kThreshold)) {
    const auto patience = parse_duration(text.substr(kThreshold.size()));
    if (patience.ok() && *patience >= Duration()) {
      return std::shared_ptr<const core::ProvisionRule>(std::make_shared<ThresholdNodes>(*patience));
    }
  }
  return invalid_argument("there is no rule \"" + std::string(text) +
                          "\" for nodes of pools; write built-in, or threshold:TIME with how long a job waits before "
                          "nodes are asked for, such as threshold:60s");
}

}  // namespace tidepool::studies
