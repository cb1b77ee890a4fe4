#include "core/facts/drain_facts.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/first_after.hpp"
#include "base/id_set.hpp"
#include "core/facts/pool_facts.hpp"
#include "core/facts/state_moves.hpp"
#include "core/facts/worker_exit.hpp"
#include "core/state/membership.hpp"

namespace tidepool::core {
namespace {

constexpr Duration kSameReclaim = Duration::seconds(1);

// The planner examines the node's jobs again, because the change of the node affects them.
std::vector<WorkerId> touch_workers_on(StateChange& change, const Node& node) {
  std::vector<WorkerId> workers = workers_on(node);
  for (const WorkerId id : workers) (void)change.job(change.worker(id).job);
  change.nodes_changed();
  return workers;
}

NodeDrain& begun(Node& node, Instant at) {
  if (!node.drain) node.drain = NodeDrain{.since = at};
  return *node.drain;
}

std::optional<Instant> earliest(const NodeDrain& drain) {
  FirstAfter first;
  first.consider(drain.asked);
  if (drain.reclaim) first.consider(drain.reclaim->at);
  if (drain.maintenance) first.consider(drain.maintenance->begins);
  return first.found();
}

// A worker that boots there no longer joins its running members; its job continues without it.
void leave_if_booting(StateChange& change, WorkerId id) {
  const Worker& worker = change.worker(id);
  Job& job = change.job(worker.job);
  if (!boots(worker) || job.membership.members.empty()) return;
  mark_leaving(change, id, std::nullopt);
  drop_from_transition(change, job, id);
  end_move_if_pointless(change, job);
}

// A cause was added or changed. Returns how many workers are there.
std::size_t follow_causes(StateChange& change, Node& node) {
  node.drain->deadline = earliest(*node.drain).value();
  const std::vector<WorkerId> workers = touch_workers_on(change, node);
  for (const WorkerId id : workers) leave_if_booting(change, id);
  return workers.size();
}

// A cause has ended.
void follow_end(StateChange& change, NodeId id) {
  Node& node = change.node(id);
  if (earliest(*node.drain)) {
    (void)follow_causes(change, node);
    return;
  }
  node.drain.reset();
  (void)touch_workers_on(change, node);
  change.emit("node.undrained", node, {{"name", node.name}});
}

void tell_if_drained(StateChange& change, const Node& node) {
  if (node.is_drained()) change.emit("node.drained", node, {{"name", node.name}});
}

void emit_draining(StateChange& change, const Node& node, const std::string& reason, std::size_t workers) {
  const Duration left = std::max(Duration(), node.drain->deadline - change.at());
  change.emit("node.draining", node,
              {{"name", node.name}, {"seconds", left.to_seconds()}, {"reason", reason}, {"workers", workers}});
}

}  // namespace

std::vector<WorkerId> workers_on(const Node& node) {
  IdSet<WorkerId> owners(node.owners.begin(), node.owners.end());
  owners.erase(WorkerId());
  return {owners.begin(), owners.end()};
}

bool is_news(const Node& node, const NodeReclaimNoticed& fact, Instant at) {
  const bool stands = node.drain && node.drain->reclaim;
  if (!fact.within || !stands) return fact.within.has_value() != stands;
  return at + *fact.within + kSameReclaim <= node.drain->reclaim->at;
}

Status apply(StateChange& change, const NodeDrainRequested& fact) {
  const Node* known = change.state().find_node(fact.node);
  if (known == nullptr) return not_found("there is no " + fact.node.text());
  if (fact.within < Duration()) return invalid_argument("a drain has its deadline in the future");
  Node& node = change.node(fact.node);
  NodeDrain& drain = begun(node, change.at());
  drain.asked = change.at() + fact.within;
  drain.reason = fact.reason;
  const std::size_t workers = follow_causes(change, node);
  change.emit(
      "node.draining", node,
      {{"name", node.name}, {"seconds", fact.within.to_seconds()}, {"reason", fact.reason}, {"workers", workers}});
  tell_if_drained(change, node);
  return ok_status();
}

Status apply(StateChange& change, const NodeDrainCancelled& fact) {
  const Node* known = change.state().find_node(fact.node);
  if (known == nullptr) return not_found("there is no " + fact.node.text());
  if (!known->drain) {
    keep_pool_node(change, fact.node);
    return ok_status();
  }
  const auto& maintenance = known->drain->maintenance;
  if (maintenance && !known->drain->asked && !known->drain->reclaim) {
    const std::string window = window_name(maintenance->window);
    return conflict(known->name + " is drained for the maintenance window " + window +
                    ", which continues; end it with: schedctl maintenance remove " + window);
  }
  NodeDrain& drain = *change.node(fact.node).drain;
  drain.asked.reset();
  drain.reclaim.reset();
  drain.reason.clear();
  keep_pool_node(change, fact.node);
  follow_end(change, fact.node);
  return ok_status();
}

Status apply(StateChange& change, const NodeReclaimNoticed& fact) {
  const Node* known = change.state().find_node(fact.node);
  if (known == nullptr) return not_found("there is no " + fact.node.text());
  if (fact.within && *fact.within < Duration()) return invalid_argument("a node is reclaimed in the future");
  if (!is_news(*known, fact, change.at())) return ok_status();
  const bool was_drained = known->is_drained();
  Node& node = change.node(fact.node);
  if (!fact.within) {
    change.emit("node.reclaim_withdrawn", node, {{"name", node.name}});
    node.drain->reclaim.reset();
    follow_end(change, fact.node);
    return ok_status();
  }
  begun(node, change.at()).reclaim = NodeReclaim{change.at() + *fact.within};
  const std::size_t workers = follow_causes(change, node);
  change.emit("node.reclaim_notice", node,
              {{"name", node.name}, {"seconds", fact.within->to_seconds()}, {"workers", workers}});
  if (!was_drained) tell_if_drained(change, node);
  return ok_status();
}

void ask_drain(StateChange& change, NodeId id, Instant deadline, const std::string& reason) {
  Node& node = change.node(id);
  NodeDrain& drain = begun(node, change.at());
  drain.asked = deadline;
  drain.reason = reason;
  (void)follow_causes(change, node);
}

void ask_drain(StateChange& change, NodeId id, const std::optional<WindowOfNode>& window) {
  const Node& known = *change.state().find_node(id);
  const std::optional<NodeMaintenance> before = known.drain ? known.drain->maintenance : std::nullopt;
  const std::optional<NodeMaintenance> asked = window ? std::optional(window->maintenance) : std::nullopt;
  if (before == asked) return;
  const bool was_drained = known.is_drained();
  Node& node = change.node(id);
  begun(node, change.at()).maintenance = asked;
  if (!asked) return follow_end(change, id);
  const std::size_t workers = follow_causes(change, node);
  emit_draining(change, node, window->reason, workers);
  if (!was_drained) tell_if_drained(change, node);
}

}  // namespace tidepool::core
