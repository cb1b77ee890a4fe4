#include "schedulerd/live/http/numbers/pool_series.hpp"

#include <array>

#include "core/codec/reason_numbers.hpp"

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
  const bool never_joined = event.type == "pool.node_released" && core::tells_reason(event.data, "NodeNeverJoined");
  return never_joined ? "never_joined" : nullptr;
}

prometheus::Labels in_state(const std::string& pool, core::PoolNodeState state) {
  return {{"pool", pool}, {"state", core::to_text(state)}};
}

}  // namespace

PoolSeries::PoolSeries(prometheus::Registry& registry)
    : nodes_(registry, "sched_pool_nodes", "Nodes that a pool has asked for, by state"),
      failures_(prometheus::BuildCounter()
                    .Name("sched_pool_failures_total")
                    .Help("What has failed of a pool's nodes, by kind")
                    .Register(registry)) {}

void PoolSeries::observe(const core::Event& event) {
  const char* kind = failure_of(event);
  if (kind != nullptr) failures_.Add({{"pool", event.data.value("pool", "")}, {"kind", kind}}).Increment();
}

void PoolSeries::set(const core::NodePools& pools) {
  LabelledGauges::Values nodes;
  for (const auto& [name, pool] : pools.pools) {
    for (const auto state : kPoolNodeStates) nodes[in_state(name, state)] = 0;
    for (const char* kind : kFailures) failures_.Add({{"pool", name}, {"kind", kind}});  // a series begins at 0
  }
  for (const auto& [request, node] : pools.nodes) nodes[in_state(node.pool, node.state)] += 1;
  nodes_.set(nodes);
}

}  // namespace tidepool::live::http
