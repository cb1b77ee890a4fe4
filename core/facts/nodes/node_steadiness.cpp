#include "core/facts/nodes/node_steadiness.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "base/first_after.hpp"
#include "core/facts/worker_exit.hpp"
#include "core/state/job_state.hpp"
#include "core/state/membership.hpp"

namespace tidepool::core {
namespace {

// When the penalty is this far below that of a steady node, it is forgotten, and faults are counted from zero.
constexpr double kForgotten = 0.5;

enum class FaultKind { kLoss, kFailedStart };

double penalty_at(const NodeDamping& damping, const NodeFaults& faults, Instant now) {
  const double passed = (now - faults.newest_at).to_seconds();
  return faults.penalty * std::exp2(-passed / damping.half_life.to_seconds());
}

// The time in which the penalty falls that far. In whole seconds, so that rounding is the same on every machine.
Duration time_to_fall(const NodeDamping& damping, double penalty, double to) {
  const double seconds = damping.half_life.to_seconds() * std::log2(penalty / to);
  return Duration::seconds(static_cast<std::int64_t>(std::ceil(seconds)));
}

Duration until_steady(const NodeDamping& damping, double penalty) {
  return std::min(damping.longest, time_to_fall(damping, penalty, damping.reuse));
}

Instant forgotten_at(const NodeDamping& damping, const NodeFaults& faults) {
  return faults.newest_at + time_to_fall(damping, faults.penalty, damping.reuse * kForgotten);
}

NodeFaults one_more(const NodeDamping& damping, const std::optional<NodeFaults>& before, Instant now) {
  NodeFaults faults = before.value_or(NodeFaults{.first_at = now, .newest_at = now});
  faults.penalty = penalty_at(damping, faults, now);
  if (faults.penalty < damping.reuse * kForgotten) faults = {.first_at = now, .newest_at = now};
  // Further faults would only go beyond `longest`.
  const double most = damping.reuse * std::exp2(damping.longest.to_seconds() / damping.half_life.to_seconds());
  faults.penalty = std::min(faults.penalty + 1, std::max(most, damping.suppress));
  faults.newest_at = now;
  if (faults.until || faults.penalty >= damping.suppress) faults.until = now + until_steady(damping, faults.penalty);
  return faults;
}

// `why`: the cause of the newest fault.
void tell_unsteady(StateChange& change, const Node& node, const std::string& why) {
  const NodeFaults& faults = *node.faults;
  change.emit("node.unsteady", node,
              {{"name", node.name},
               {"losses", faults.losses},
               {"failed_starts", faults.failed_starts},
               {"within_seconds", (faults.newest_at - faults.first_at).to_seconds()},
               {"seconds", (*faults.until - change.at()).to_seconds()},
               {"why", why}});
}

void note_fault(StateChange& change, NodeId id, FaultKind kind, const std::string& why) {
  const NodeDamping& damping = change.state().damping;
  if (!damping.is_on()) return;
  Node& node = change.node(id);
  NodeFaults faults = one_more(damping, node.faults, change.at());
  ++(kind == FaultKind::kLoss ? faults.losses : faults.failed_starts);
  node.faults = faults;
  change.nodes_changed();
  if (faults.until) tell_unsteady(change, node, why);
}

// The program of a job that restarts at each size begins once its worker is ready.
bool begins(const Job& job, const Worker& worker, bool nothing_started) {
  if (worker.phase == WorkerPhase::kStarting) return true;
  return job.spec.resize == ResizeMode::kRestart && nothing_started && worker.phase != WorkerPhase::kLeaving;
}

void forget_faults(StateChange& change, NodeId id) {
  change.node(id).faults.reset();
  change.nodes_changed();
}

// The node accepts workers again, as far as its faults are concerned.
void become_steady(StateChange& change, NodeId id, bool by_operator) {
  Node& node = change.node(id);
  node.faults->until.reset();
  change.nodes_changed();
  change.emit("node.steady", node, {{"name", node.name}, {"cleared", by_operator}});
}

void stop_counting(StateChange& change, NodeId id) {
  if (change.state().find_node(id)->is_unsteady()) become_steady(change, id, true);
  forget_faults(change, id);
}

}  // namespace

Status apply(StateChange& change, const NodeDampingConfigured& fact) {
  const NodeDamping& asked = fact.damping;
  const bool is_lawful = asked.half_life >= Duration() && asked.reuse > 0 && asked.suppress > asked.reuse &&
                         std::isfinite(asked.suppress) && asked.longest >= asked.half_life;
  if (asked.is_on() && !is_lawful) {
    return invalid_argument("the damping of nodes needs 0 < reuse < suppress, and longest at least half_life");
  }
  change.state().damping = asked;
  if (asked.is_on()) return ok_status();
  for (const NodeId id : nodes_with_faults(change.state())) stop_counting(change, id);
  return ok_status();
}

Status apply(StateChange& change, const NodeFaultsCleared& fact) {
  const Node* known = change.state().find_node(fact.node);
  if (known == nullptr) return not_found("there is no " + fact.node.text());
  if (known->faults) stop_counting(change, fact.node);
  return ok_status();
}

void note_loss(StateChange& change, NodeId node, const std::string& why) {
  const Node& lost = *change.state().find_node(node);
  if (!lost.cordoned && !lost.drain) note_fault(change, node, FaultKind::kLoss, why);
}

bool note_exit(StateChange& change, const Worker& worker, const WorkerExited& fact) {
  const bool failed = fact.exit_code != 0 && fact.exit_code != kExitMisconfigured;
  const Job& job = *change.state().find_job(worker.job);
  if (!begins(job, worker, fact.nothing_started) || worker.kill_at || worker.is_gone() || !failed) return false;
  if (!is_active(job.state()) || !change.state().damping.is_on()) return false;
  const auto& faults = change.state().find_node(worker.node)->faults;
  const bool has_run = job.membership.generation > 0;
  const bool may_be_the_job = !has_run || (faults && faults->failed_job == job.id);
  if (may_be_the_job && !fact.nothing_started) return false;
  note_fault(change, worker.node, FaultKind::kFailedStart, fact.detail);
  change.node(worker.node).faults->failed_job = job.id;
  return fact.nothing_started;
}

void note_start(StateChange& change, NodeId node) {
  const auto& faults = change.state().find_node(node)->faults;
  if (faults && faults->failed_job) change.node(node).faults->failed_job = JobId();
}

IdSet<NodeId> nodes_with_faults(const ClusterState& state) {
  IdSet<NodeId> nodes;
  for (const auto& [id, node] : state.nodes) {
    if (node.faults) nodes.insert(id);
  }
  return nodes;
}

void follow_steadiness(StateChange& change, const IdSet<NodeId>& nodes) {
  for (const NodeId id : nodes) {
    const Node* node = change.state().find_node(id);  // null: it was removed in this change
    if (node == nullptr || !node->faults) continue;
    if (node->is_unsteady() && *node->faults->until <= change.at()) become_steady(change, id, false);
    const NodeFaults& faults = *change.state().find_node(id)->faults;
    if (!faults.until && forgotten_at(change.state().damping, faults) <= change.at()) forget_faults(change, id);
  }
}

std::optional<Instant> next_faults_due(const ClusterState& state, const IdSet<NodeId>& nodes) {
  FirstAfter first;
  for (const NodeId id : nodes) {
    const NodeFaults& faults = *state.find_node(id)->faults;
    first.consider(faults.until.value_or(forgotten_at(state.damping, faults)));
  }
  return first.found();
}

std::optional<Instant> next_steady(const ClusterState& state, const IdSet<NodeId>& nodes) {
  FirstAfter first;
  for (const NodeId id : nodes) first.consider(state.find_node(id)->faults->until);
  return first.found();
}

}  // namespace tidepool::core
