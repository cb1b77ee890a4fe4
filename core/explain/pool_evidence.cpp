#include "core/explain/pool_evidence.hpp"

#include "base/byte_size.hpp"
#include "core/provision/node_room.hpp"
#include "core/provision/spot_share.hpp"
#include "core/state/node_constraints.hpp"
#include "core/state/node_labels.hpp"
#include "core/state/worker_groups.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

std::string since(const ClusterState& state, Instant then) {
  return waiting_time(std::max(Duration(), state.now - then).to_seconds());
}

// "gpu-3 was requested 40 s ago and joins in about 3 min in all"
std::string on_its_way(const ClusterState& state, const PoolNode& node, const PoolSpec& spec) {
  const char* how = node.state == PoolNodeState::kAsked ? " was requested " : " was created after it was requested ";
  return node.name + how + since(state, node.asked_at) + " ago; nodes of pool " + spec.name + " take about " +
         waiting_time(spec.lead_time.to_seconds());
}

std::string failing(const ClusterState& state, const NodePool& pool) {
  const bool waits = pool.backoff.holds(state.now);
  return "pool " + pool.spec.name + " has failed " + counted(pool.backoff.failures, "time") + " in a row" +
         (waits ? ", and is tried again in " + waiting_time((pool.backoff.until - state.now).to_seconds()) : "") +
         ": " + pool.backoff.detail;
}

std::string kept_for_another(const PoolNode& node) {
  return node.name + " lacks a node that was requested with it, and is kept while that node is requested again";
}

// "the policy spare_node@0123456789ab wants 2 nodes of pool gpu: SpareNode (spare 1)"
std::string wanted(const ClusterState& state, const PoolTarget& answer) {
  return "the policy " + short_name(*state.deployment.active) + " wants " + counted(answer.nodes, "node") +
         " of pool " + answer.pool + (answer.word.empty() ? "" : ": " + policy_words(answer.word, answer.numbers));
}

// Requires: the job may use none of its nodes.
std::string why_none(const JobSpec& job, const PoolSpec& pool) {
  const Node node = node_to_be(pool);
  if (job.placement.exclusive) return "it creates none for jobs with placement.exclusive";
  if (has_strict_topology(job)) return "it creates none for jobs with a strict topology.strategy";
  if (!takes_slot_type(job.slot_types, pool.slot_type)) {
    return pool.slot_type.empty() ? "its configuration has no slot_type" : "its slots are of type " + pool.slot_type;
  }
  if (memory_asked_per_slot(job) > *node.memory_per_slot) {
    return !pool.memory_per_slot ? "its configuration has no memory_per_slot"
                                 : "its memory_per_slot is " + rounded_byte_size(*pool.memory_per_slot);
  }
  if (!matches(node, job.placement.selector)) return "what labels its nodes have is known once they have joined";
  const int together = workers_together(job);
  if (pool.slots_per_node / job.gpus_per_worker < together) {
    return "its nodes have " + counted(pool.slots_per_node, "slot") + ", and " +
           (together > 1 ? "a group" : "a worker") + " needs " + grouped(job.gpus_per_worker * together);
  }
  return "its price is above scaling.price_cap";
}

void add_unsuited(const ClusterState& state, const Job& job, std::vector<std::string>& lines) {
  for (const auto& [name, pool] : state.pools.pools) {
    if (!pool.retired) lines.push_back("pool " + name + " creates no node for it: " + why_none(job.spec, pool.spec));
  }
}

// "pool gpu has 1 node of 2 slots and may have 4 nodes"
std::string bounds(const ClusterState& state, const NodePool& pool) {
  const std::string& name = pool.spec.name;
  const int nodes = state.pools.count(name);
  if (pool.retired) return "pool " + name + " is no longer configured, so it creates no more nodes";
  if (nodes >= pool.spec.max) return "pool " + name + " has " + counted(nodes, "node") + ", its maximum";
  return "pool " + name + " has " + counted(nodes, "node") + " of " + counted(pool.spec.slots_per_node, "slot") +
         " and may have " + counted(pool.spec.max, "node");
}

// "pool spot gets no node alone: spot_share is 0.7, and 0 of 0 nodes of pools are of spot pools"
std::string share_used(const NodePools& pools, const std::string& name) {
  const PoolNodeCounts counts = count_nodes(pools);
  return "pool " + name + " gets no node alone: spot_share is " + decimal(pools.spot_share) + ", and " +
         grouped(counts.spot) + " of " + counted(counts.all, "node") + " of pools are of spot pools";
}

}  // namespace

bool spot_share_binds(const NodePools& pools, const PoolSpec& spec) {
  PoolNodeCounts counts = count_nodes(pools);
  counts.add(spec, 1);
  return spec.spot && counts.exceed(pools.spot_share);
}

std::vector<std::string> pool_evidence(const ClusterState& state, const Job& job) {
  std::vector<std::string> lines;
  if (job.state() != JobState::kPending) return lines;
  bool any_suits = false;
  for (const auto& [name, pool] : state.pools.pools) {
    if (!suits(job, pool.spec)) continue;
    any_suits = any_suits || !pool.retired;
    for (const auto& [request, node] : state.pools.nodes) {
      const bool comes = node.is_coming();
      if (node.pool == name && comes) lines.push_back(on_its_way(state, node, pool.spec));
    }
    lines.push_back(bounds(state, pool));
    if (!pool.retired && spot_share_binds(state.pools, pool.spec)) lines.push_back(share_used(state.pools, name));
    const PoolTarget* answer = state.deployment.active ? state.deployment.answer_for(name) : nullptr;
    if (answer != nullptr) lines.push_back(wanted(state, *answer));
    if (pool.backoff.failures > 0) lines.push_back(failing(state, pool));
    for (const auto& [request, node] : state.pools.nodes) {
      if (node.pool == name && lacks_another(node, pool)) lines.push_back(kept_for_another(node));
    }
  }
  if (!any_suits) add_unsuited(state, job, lines);
  return lines;
}

}  // namespace tidepool::core
