#include "schedulerd/live/http/numbers/pool_series.hpp"

#include <array>
#include <iterator>

namespace tidepool::live::http {
namespace {

constexpr std::array kPoolNodeStates = {core::PoolNodeState::kAsked, core::PoolNodeState::kCreated,
                                        core::PoolNodeState::kJoined, core::PoolNodeState::kDraining,
                                        core::PoolNodeState::kReleasing};

constexpr std::array kFailures = {"create", "delete", "list", "bill_runs_on", "never_joined"};

// One of them. Null: the event tells of no failure.
const char* failure_of(const core::Event& event) {
  if (event.type == "pool.create_failed") return "create";
  if (event.type == "pool.delete_failed") return "delete";
  if (event.type == "pool.list_failed") return "list";
  if (event.type == "pool.bill_runs_on") return "bill_runs_on";
  if (event.type != "pool.node_released") return nullptr;
  const auto reason = event.data.find("reason");
  const bool never_joined =
      reason != event.data.end() && reason->is_object() && reason->value("code", "") == "NodeNeverJoined";
  return never_joined ? "never_joined" : nullptr;
}

}  // namespace

PoolSeries::PoolSeries(prometheus::Registry& registry)
    : nodes_(prometheus::BuildGauge()
                 .Name("sched_pool_nodes")
                 .Help("Nodes that a pool has asked for, by state")
                 .Register(registry)),
      failures_(prometheus::BuildCounter()
                    .Name("sched_pool_failures_total")
                    .Help("What has failed of a pool's nodes, by kind")
                    .Register(registry)) {}

void PoolSeries::observe(const core::Event& event) {
  const char* kind = failure_of(event);
  if (kind != nullptr) failures_.Add({{"pool", event.data.value("pool", "")}, {"kind", kind}}).Increment();
}

void PoolSeries::set(const core::NodePools& pools) {
  std::map<std::pair<std::string, std::string>, int> counts;
  for (const auto& [name, pool] : pools.pools) {
    for (const auto state : kPoolNodeStates) counts[{name, core::to_text(state)}] = 0;
    for (const char* kind : kFailures) failures_.Add({{"pool", name}, {"kind", kind}});  // a series begins at 0
  }
  for (const auto& [request, node] : pools.nodes) ++counts[{node.pool, core::to_text(node.state)}];
  for (auto gauge = gauges_.begin(); gauge != gauges_.end();) {
    const bool stays = counts.contains(gauge->first);
    if (!stays) nodes_.Remove(gauge->second);
    gauge = stays ? std::next(gauge) : gauges_.erase(gauge);
  }
  for (const auto& [of, count] : counts) {
    auto& gauge = gauges_[of];
    if (gauge == nullptr) gauge = &nodes_.Add({{"pool", of.first}, {"state", of.second}});
    gauge->Set(count);
  }
}

}  // namespace tidepool::live::http
