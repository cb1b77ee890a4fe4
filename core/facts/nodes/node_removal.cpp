#include "core/facts/nodes/node_removal.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/facts/drain_facts.hpp"
#include "core/facts/pool_facts.hpp"
#include "core/facts/price_facts.hpp"
#include "core/facts/worker_exit.hpp"
#include "core/state/state_move.hpp"

namespace tidepool::core {
namespace {

// Nodes between which the job's saved state is being moved, or from whose saved state it would continue, as it runs
// nowhere.
std::vector<NodeId> nodes_needed_by(const ClusterState& state, const Job& job) {
  std::vector<NodeId> nodes;
  if (const auto& moving = job.recovery.moving) nodes = {moving->from, moving->to};
  if (!is_final(job.state()) && job.membership.members.empty()) nodes.push_back(holder_of_state(state, job));
  return nodes;
}

// Null: there is none.
const Job* job_that_needs(const ClusterState& state, NodeId node) {
  for (const auto& [id, job] : state.jobs) {
    const std::vector<NodeId> needed = nodes_needed_by(state, *job);
    if (std::find(needed.begin(), needed.end(), node) != needed.end()) return job.get();
  }
  return nullptr;
}

// Apart from jobs that need the node.
Status check_given_up(const ClusterState& state, const Node& node) {
  if (node.state != NodeState::kLost) {
    return conflict(node.name + " is not lost; drain it, stop its agent, and ask again when the node is lost");
  }
  const PoolNode* of_pool = state.pools.find_node(node.id);
  if (of_pool != nullptr && !state.pools.find(of_pool->pool)->retired) {
    return conflict(node.name + " belongs to the pool " + of_pool->pool + ", which gives it back by itself");
  }
  return ok_status();
}

Status check_removable(const ClusterState& state, const Node& node) {
  TP_TRY(check_given_up(state, node));
  if (const Job* job = job_that_needs(state, node.id)) {
    return conflict(job->id.text() + " would continue from its saved state on " + node.name +
                    "; start the agent there again, or cancel the job");
  }
  return ok_status();
}

}  // namespace

std::vector<NodeId> removable_of_pools(const ClusterState& state) {
  std::vector<NodeId> removable;
  for (const NodeId id : state.pools.gone) {
    const Node* node = state.find_node(id);
    const bool is_counted_on = node == nullptr || state.pools.find_node(id) != nullptr;
    if (!is_counted_on && check_given_up(state, *node).ok()) removable.push_back(id);
  }
  if (removable.empty()) return removable;
  std::set<NodeId> needed;
  for (const auto& [id, job] : state.jobs) {
    for (const NodeId node : nodes_needed_by(state, *job)) needed.insert(node);
  }
  std::erase_if(removable, [&](NodeId id) { return needed.contains(id); });
  return removable;
}

Status apply(StateChange& change, const NodeRemoved& fact) {
  const Node* node = change.state().find_node(fact.node);
  if (node == nullptr) return not_found("there is no " + fact.node.text());
  TP_TRY(check_removable(change.state(), *node));
  prices_until_now(change);
  change.emit("node.removed", *node, {{"name", node->name}});
  remove_exited_workers(change, workers_on(*node), {.detail = "its node was removed"});
  forget_pool_node(change, fact.node);
  change.state().pools.set_gone(fact.node, false);
  set_own_price(change, change.node(fact.node), Money());
  change.state().nodes.erase(fact.node);
  change.nodes_changed();
  return ok_status();
}

}  // namespace tidepool::core
