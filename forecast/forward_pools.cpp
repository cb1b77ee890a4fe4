#include "forecast/forward_pools.hpp"

#include <algorithm>
#include <string>

#include "core/state/node_constraints.hpp"

namespace tidepool::forecast {
namespace {

constexpr Duration kCall = Duration::seconds(1);  // of each call of a provider

NodeId id_for(const core::ClusterState& state, const std::string& name) {
  for (const auto& [id, node] : state.nodes) {
    if (node.name == name) return id;
  }
  return NodeId(state.next_node);
}

// What its agent would report where the pool does not say it: as other nodes do.
std::string slot_type_of(const core::ClusterState& state, const core::PoolSpec& spec) {
  if (!spec.slot_type.empty()) return spec.slot_type;
  for (const auto& [id, node] : state.nodes) {
    const core::PoolNode* mine = state.pools.find_node(id);
    if (mine != nullptr && mine->pool == spec.name) return node.slot_type;
  }
  return state.nodes.empty() ? "gpu" : state.nodes.begin()->second.slot_type;
}

core::NodeJoined joining(const core::ClusterState& state, const core::PoolNode& mine, const core::PoolSpec& spec) {
  return {.node = id_for(state, mine.name),
          .name = mine.name,
          .slots = spec.slots_per_node,
          .slot_type = slot_type_of(state, spec),
          .price_per_slot_hour = spec.price_per_slot_hour,
          .memory_per_slot = core::node_to_be(spec).memory_per_slot};
}

core::PoolListed list_without(const core::ClusterState& state, const core::PoolNode& gone) {
  core::PoolListed listed{.pool = gone.pool, .asked_before = state.pools.next_request};
  for (const auto& [request, node] : state.pools.nodes) {
    if (node.pool == gone.pool && request != gone.request) listed.nodes.push_back({request, node.provider_id, {}});
  }
  return listed;
}

}  // namespace

void ForwardPools::schedule(core::NodeRequest request, Step step, Instant at) {
  if (scheduled_.insert({request, step}).second) heap_.push(at, {request, step});
}

void ForwardPools::follow(const core::ClusterState& state, Instant now) {
  for (const auto& [request, node] : state.pools.nodes) {
    if (node.is_coming()) {
      const core::NodePool* pool = state.pools.find(node.pool);
      if (node.state == core::PoolNodeState::kAsked) schedule(request, Step::kCreated, now + kCall);
      const Duration lead = pool == nullptr ? Duration() : pool->spec.lead_time;
      schedule(request, Step::kJoins, std::max(now + kCall, node.asked_at + lead));
    } else if (node.state == core::PoolNodeState::kReleasing) {
      schedule(request, Step::kGone, now + kCall);
    }
  }
}

std::optional<Instant> ForwardPools::next_at() const {
  return heap_.empty() ? std::nullopt : std::optional(heap_.next_at());
}

std::vector<core::Fact> ForwardPools::take(const core::ClusterState& state) {
  const auto [request, step] = heap_.pop();
  const core::PoolNode* node = state.pools.find_node(request);
  if (node == nullptr) return {};
  if (step == Step::kCreated) return {core::PoolNodeCreated{request, node->provider_id, {}}};
  if (step == Step::kJoins) {
    const core::NodePool* pool = state.pools.find(node->pool);
    if (pool == nullptr || !node->is_coming()) return {};
    return {joining(state, *node, pool->spec)};
  }
  std::vector<core::Fact> facts{core::PoolNodeDeleted{request}};
  if (node->node) facts.emplace_back(core::NodeLost{node->node, "given back", true});
  facts.emplace_back(list_without(state, *node));
  return facts;
}

}  // namespace tidepool::forecast
