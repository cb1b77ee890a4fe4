#include "schedulerd/live/daemon_pools.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/digest.hpp"
#include "core/words/wording.hpp"
#include "schedulerd/live/providers/provider_table.hpp"

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
          .memory_per_slot = config.memory_per_slot,
          .made_by = maker_of(config)};
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

std::string maker_of(const PoolConfig& config) {
  Digest provider;
  provider.mix(config.provider).mix(nlohmann::json(config.command).dump());
  Digest settings;
  settings.mix(config.settings.dump());
  return provider.text() + "/" + settings.text();
}

Status check_makers(const PoolsConfig& config, const core::NodePools& known) {
  for (const PoolConfig& pool : config.pools) {
    const core::NodePool* before = known.find(pool.name);
    const int nodes = known.count(pool.name);
    const bool is_known = before != nullptr && !before->spec.made_by.empty() && nodes > 0;
    const std::string maker = maker_of(pool);
    if (!is_known || before->spec.made_by == maker) continue;
    if (before->spec.made_by.starts_with(maker.substr(0, maker.find('/') + 1))) {
      spdlog::warn(
          "event=pool_settings_changed pool={} nodes={} why=\"they were made with other settings\" next=\"if these say "
          "where nodes are, such as a region, put them back until the nodes are gone: else nothing ends them\"",
          pool.name, nodes);
      continue;
    }
    return invalid_argument(
        "pool " + pool.name + " has " + core::counted(nodes, "node") +
        " that another provider or command has made, and only that can end: put it back, and set max: 0 until the "
        "nodes are gone; or leave the pool as it was, and configure the changed one under another name");
  }
  return ok_status();
}

Status DaemonPools::prepare(const PoolsConfig& config, const std::string& cluster, Publisher& publisher, Inbox& inbox) {
  const core::NodePools& known = publisher.picture()->state.pools;
  if (config.pools.empty() && known == core::NodePools{}) return ok_status();
  TP_TRY(check_makers(config, known));
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
