// Pools of nodes: what each may have, has and is about to have, and what its provider has failed at.
#include <nlohmann/json.hpp>

#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/render.hpp"
#include "schedulerd/live/http/settings/price_view.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

// Null: the newest attempt has not failed.
json render_problem(const Published& seen, const core::Backoff& backoff) {
  if (backoff.failures == 0) return nullptr;
  return {{"failures", backoff.failures},
          {"failed_at", seen.clock.text(backoff.failed_at)},
          {"retry_at", backoff.holds(seen.now) ? json(seen.clock.text(backoff.until)) : json(nullptr)},
          {"detail", backoff.detail}};
}

// A machine that ends is listed for a while, which is no failure.
json render_end_problem(const Published& seen, const core::PoolNode& mine) {
  const bool ends = mine.ended_at && !outstays(mine, seen.state.pools.find(mine.pool)->spec, seen.now);
  return ends ? json(nullptr) : render_problem(seen, mine.backoff);
}

json render_pool_node(const Published& seen, const core::PoolNode& mine) {
  return {{"name", mine.name},
          {"state", to_text(mine.state)},
          {"since", seen.clock.text(mine.since)},
          {"asked_at", seen.clock.text(mine.asked_at)},
          {"provider_id", mine.provider_id.empty() ? json(nullptr) : json(mine.provider_id)},
          {"node", mine.node ? json(mine.node.text()) : json(nullptr)},
          {"idle_since", instant_or_null(seen, mine.idle_since)},
          {"away_since", instant_or_null(seen, mine.away_since)},
          {"ends_at", instant_or_null(seen, mine.ends_at)},
          {"problem", render_end_problem(seen, mine)}};
}

// Null: the newest list is good.
json render_list_problem(const Published& seen, const core::NodePool& pool) {
  if (!pool.list_fails_since) return nullptr;
  return {{"since", seen.clock.text(*pool.list_fails_since)},
          {"failed_at", seen.clock.text(pool.list_backoff.failed_at)},
          {"detail", pool.list_backoff.detail}};
}

json render_pool(const Published& seen, const core::NodePool& pool) {
  json nodes = json::array();
  for (const auto& [request, mine] : seen.state.pools.nodes) {
    if (mine.pool == pool.spec.name) nodes.push_back(render_pool_node(seen, mine));
  }
  json out = {{"name", pool.spec.name},
              {"slot_type", pool.spec.slot_type.empty() ? json(nullptr) : json(pool.spec.slot_type)},
              {"slots_per_node", pool.spec.slots_per_node},
              {"price_per_slot_hour", to_text(pool.spec.price_per_slot_hour)},
              {"worth_per_slot_hour", to_text(pool.spec.worth_per_slot_hour)},
              {"min", pool.spec.min},
              {"max", pool.spec.max},
              {"idle", to_text(pool.spec.idle)},
              {"lead_time", to_text(pool.spec.lead_time)},
              {"spot", pool.spec.spot},
              {"memory_per_slot", pool.spec.memory_per_slot ? json(*pool.spec.memory_per_slot) : json(nullptr)},
              {"retired", pool.retired},
              {"problem", render_problem(seen, pool.backoff)},
              {"list_problem", render_list_problem(seen, pool)},
              {"nodes", std::move(nodes)}};
  add_price_source(seen.state, pool.spec, out);
  return out;
}

}  // namespace

void list_pools(Rest&, Call call) {
  const auto page = read_page(call, "pools");
  if (!page) return call.fail(bad_parameter(page.error()));
  PageBuilder builder("pools", page->limit);
  std::uint64_t place = 0;
  for (const auto& [name, pool] : call.seen->state.pools.pools) {
    if (++place <= page->after.value_or(0)) continue;
    if (!builder.add(place, render_pool(*call.seen, pool))) break;
  }
  call.reply(200, std::move(builder).body(call.seen->as_of_seq));
}

}  // namespace tidepool::live::http
