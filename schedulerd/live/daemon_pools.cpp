#include "schedulerd/live/daemon_pools.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace tidepool::live {
namespace {

core::PoolSpec spec_of(const PoolConfig& config) {
  return {.name = config.name,
          .slot_type = config.slot_type,
          .slots_per_node = config.slots_per_node,
          .price_per_slot_hour = config.price_per_slot_hour,
          .worth_per_slot_hour = config.worth_per_slot_hour,
          .min = config.min,
          .max = config.max,
          .idle = config.idle,
          .lead_time = config.lead_time,
          .spot = config.spot,
          .memory_per_slot = config.memory_per_slot};
}

std::chrono::milliseconds millis(Duration time) {
  return std::chrono::milliseconds(time.count_ms());
}

// Nothing ends the nodes of a pool that is configured no more: its provider is not known.
void warn_of_orphans(const PoolsConfig& config, const core::NodePools& pools) {
  for (const auto& [request, node] : pools.nodes) {
    const bool has_runner = std::any_of(config.pools.begin(), config.pools.end(),
                                        [&](const PoolConfig& pool) { return pool.name == node.pool; });
    if (has_runner) continue;
    spdlog::error(
        "event=pool_without_provider pool={} node={} id={} next=\"configure the pool again with max: 0, or end the "
        "node by hand: it may cost money\"",
        node.pool, node.name, node.provider_id);
  }
}

}  // namespace

Status DaemonPools::prepare(const PoolsConfig& config, const std::string& cluster, Publisher& publisher, Inbox& inbox) {
  const core::NodePools& known = publisher.picture()->state.pools;
  if (config.pools.empty() && known == core::NodePools{}) return ok_status();
  warn_of_orphans(config, known);
  core::PoolsConfigured configured{.spot_share = config.spot_share, .pools = {}};
  for (const PoolConfig& pool : config.pools) {
    configured.pools.push_back(spec_of(pool));
    auto provider = make_provider(pool.provider, {.pool = pool.name,
                                                  .cluster = cluster,
                                                  .command = pool.command,
                                                  .settings = pool.settings,
                                                  .limit = millis(pool.timeout)});
    if (!provider) return invalid_argument("pool " + pool.name + ": there is no provider " + pool.provider);
    runners_.push_back(std::make_unique<PoolRunner>(PoolRunner::Setup{.pool = pool.name,
                                                                      .cluster = cluster,
                                                                      .list_every = millis(pool.list_every),
                                                                      .provider = std::move(provider)},
                                                    publisher, inbox));
  }
  return inbox.try_push(PoolReportItem{std::move(configured)});
}

void DaemonPools::start() {
  for (const auto& runner : runners_) runner->start();
}

// All are told first: a pool that waits for its turn would go on buying.
void DaemonPools::stop() {
  for (const auto& runner : runners_) runner->begin_stop();
  for (const auto& runner : runners_) runner->stop();
}

}  // namespace tidepool::live
