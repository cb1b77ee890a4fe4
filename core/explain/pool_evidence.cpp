#include "core/explain/pool_evidence.hpp"

#include "core/provision/node_room.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

std::string since(const ClusterState& state, Instant then) {
  return waiting_time(std::max(Duration(), state.now - then).to_seconds());
}

// "gpu-3 was asked for 40 s ago and is there in about 3 min in all"
std::string on_its_way(const ClusterState& state, const PoolNode& node, const PoolSpec& spec) {
  const char* how = node.state == PoolNodeState::kAsked ? " was asked for " : " is created, and was asked for ";
  return node.name + how + since(state, node.asked_at) + " ago; nodes of pool " + spec.name + " take about " +
         waiting_time(spec.lead_time.to_seconds());
}

std::string failing(const ClusterState& state, const NodePool& pool) {
  const bool waits = pool.backoff.holds(state.now);
  return "pool " + pool.spec.name + " has failed " + counted(pool.backoff.failures, "time") + " in a row" +
         (waits ? ", and is asked again in " + waiting_time((pool.backoff.until - state.now).to_seconds()) : "") +
         ": " + pool.backoff.detail;
}

std::string kept_for_another(const PoolNode& node) {
  return node.name + " lacks a node that was asked for with it, and is kept while that one is asked for once more";
}

// "the policy spare_node@0123456789ab wants 2 nodes of pool gpu: SpareNode (spare 1)"
std::string wanted(const ClusterState& state, const PoolWish& wish) {
  return "the policy " + short_name(*state.deployment.active) + " wants " + counted(wish.nodes, "node") + " of pool " +
         wish.pool + (wish.word.empty() ? "" : ": " + policy_words(wish.word, wish.numbers));
}

}  // namespace

std::vector<std::string> pool_evidence(const ClusterState& state, const Job& job) {
  std::vector<std::string> lines;
  if (job.state() != JobState::kPending) return lines;
  for (const auto& [name, pool] : state.pools.pools) {
    if (!suits(job, pool.spec)) continue;
    for (const auto& [request, node] : state.pools.nodes) {
      const bool comes = node.is_coming();
      if (node.pool == name && comes) lines.push_back(on_its_way(state, node, pool.spec));
    }
    const int nodes = state.pools.count(name);
    if (nodes >= pool.spec.max) {
      lines.push_back("pool " + name + " has " + counted(nodes, "node") + ", as many as it may have");
    } else if (!pool.retired) {
      lines.push_back("pool " + name + " has " + counted(nodes, "node") + " of " +
                      counted(pool.spec.slots_per_node, "slot") + " and may have " + counted(pool.spec.max, "node"));
    }
    const PoolWish* wish = state.deployment.active ? state.deployment.wish_for(name) : nullptr;
    if (wish != nullptr) lines.push_back(wanted(state, *wish));
    if (pool.backoff.failures > 0) lines.push_back(failing(state, pool));
    for (const auto& [request, node] : state.pools.nodes) {
      if (node.pool == name && lacks_another(node, pool)) lines.push_back(kept_for_another(node));
    }
  }
  return lines;
}

}  // namespace tidepool::core
