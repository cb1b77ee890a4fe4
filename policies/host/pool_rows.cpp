#include "policies/host/pool_rows.hpp"

#include <algorithm>
#include <map>
#include <variant>

#include "core/provision/node_orders.hpp"
#include "core/provision/provision_stage.hpp"
#include "core/provision/size_steps.hpp"

namespace tidepool::policies::host {
namespace {

cluster::PoolRow row_of(const core::NodePool& pool, Instant now) {
  const core::PoolSpec& spec = pool.spec;
  return {.name = spec.name,
          .slot_type = spec.slot_type,
          .slots = spec.slots_per_node,
          .price_per_hour = spec.price_per_slot_hour.to_units(),
          .worth_per_hour = spec.worth_per_slot_hour.to_units(),
          .min = spec.min,
          .max = spec.max,
          .spot = spec.spot,
          .lead = spec.lead_time,
          .idle_after = spec.idle,
          .idle_longest = {},
          .backoff = pool.backoff.holds(now) ? pool.backoff.until - now : Duration()};
}

void count_nodes(const core::ClusterState& state, Instant now, cluster::PoolRow& row) {
  for (const auto& [request, mine] : state.pools.nodes) {
    if (mine.pool != row.name) continue;
    if (mine.is_leaving()) {
      ++row.leaving;
      continue;
    }
    ++row.nodes;
    if (mine.is_coming()) ++row.coming;
    if (!mine.idle_since || mine.away_since) continue;
    ++row.idle;
    row.idle_longest = std::max(row.idle_longest, now - *mine.idle_since);
  }
}

bool may_help(const core::Job& job, const core::PoolSpec& spec, const core::NodeRoom& room) {
  const auto types = room.types_for(job);
  return core::suits(job, spec) && room.workers_on_more(job, spec) > 0 &&
         std::any_of(types.begin(), types.end(), [&](const auto& type) { return room.may_be_of(spec, type); });
}

void count_backlog(const core::ClusterState& state, std::vector<cluster::PoolRow>& rows) {
  core::NodeRoom room(state);
  core::serve_backlog(state, room, [&](const core::BacklogGang& gang) {
    if (gang.slots_lacking == 0) {
      if (const auto type = room.type_with_room(*gang.job, gang.workers)) room.take(*gang.job, gang.workers, *type);
      return;
    }
    for (cluster::PoolRow& row : rows) {
      if (!may_help(*gang.job, state.pools.find(row.name)->spec, room)) continue;
      ++row.backlog_jobs;
      row.backlog_slots += gang.slots_lacking;
    }
  });
}

// What a node more of each would be worth to jobs that run, as the built-in rule counts it.
void add_worth(const core::ClusterState& state, Instant now, std::vector<cluster::PoolRow>& rows) {
  const core::NodeRoom room(state);
  for (cluster::PoolRow& row : rows) {
    const core::PoolSpec& spec = state.pools.find(row.name)->spec;
    const auto steps = core::steps_up(state, {spec, now, now + spec.lead_time});
    row.more_worth = row.worth_per_hour * core::with_nodes_more(steps, {room, room.free()}, {spec}).use;
  }
}

// What the built-in rule would do now, as if no policy file said anything of pools.
void add_standard(const core::ClusterState& state, Instant now, std::vector<cluster::PoolRow>& rows) {
  core::ClusterState unsaid = state;
  unsaid.deployment.pools.clear();
  std::map<std::string, int> more;
  for (const core::PlannedNode& planned : core::built_in_rule()->plan(unsaid, now)) {
    if (const auto* create = std::get_if<core::CreateNodeIntent>(&planned.intent)) {
      ++more[create->pool];
      continue;
    }
    const auto* release = std::get_if<core::ReleaseNodeIntent>(&planned.intent);
    const core::NodeRequest request =
        release != nullptr ? release->request : std::get<core::EmptyNodeIntent>(planned.intent).request;
    const core::PoolNode& mine = *state.pools.find_node(request);
    if (!mine.is_leaving()) --more[mine.pool];
  }
  for (cluster::PoolRow& row : rows) row.standard = row.nodes + more[row.name];
}

}  // namespace

std::vector<cluster::PoolRow> pool_rows(const core::ClusterState& state, Instant now) {
  std::vector<cluster::PoolRow> rows;
  for (const auto& [name, pool] : state.pools.pools) {
    if (pool.retired) continue;
    count_nodes(state, now, rows.emplace_back(row_of(pool, now)));
  }
  if (rows.empty()) return rows;
  count_backlog(state, rows);
  add_worth(state, now, rows);
  add_standard(state, now, rows);
  return rows;
}

}  // namespace tidepool::policies::host
