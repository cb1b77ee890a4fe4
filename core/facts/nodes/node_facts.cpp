#include "core/facts/nodes/node_facts.hpp"

#include <algorithm>

#include "base/id_set.hpp"
#include "core/facts/drain_facts.hpp"
#include "core/facts/event_data.hpp"
#include "core/facts/nodes/node_steadiness.hpp"
#include "core/facts/pool_facts.hpp"
#include "core/facts/price_facts.hpp"
#include "core/facts/state_moves.hpp"
#include "core/facts/worker_exit.hpp"
#include "core/state/ledger.hpp"
#include "core/state/measured/node_speed.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/membership.hpp"
#include "core/state/node_labels.hpp"
#include "core/state/state_move.hpp"

namespace tidepool::core {
namespace {

// A worker whose start may not have reached the agent is not dead because the agent does not list it.
bool may_still_start(const Worker& worker) {
  return worker.phase == WorkerPhase::kStarting && !worker.kill_at;
}

Status check_joined(const ClusterState& state, const NodeJoined& fact) {
  if (fact.name.empty() || fact.slots < 1) {
    return invalid_argument("a node needs a name and at least one slot");
  }
  const Node* known = state.find_node(fact.node);
  if (known == nullptr) {
    if (fact.node.number() != state.next_node) {
      return conflict("the next node is " + NodeId(state.next_node).text() + ", not " + fact.node.text());
    }
    for (const auto& [id, node] : state.nodes) {
      if (node.name == fact.name) return conflict("the name \"" + fact.name + "\" belongs to " + id.text());
    }
    return ok_status();
  }
  if (known->name != fact.name) {
    return conflict(fact.node.text() + " is called \"" + known->name + "\", not \"" + fact.name + "\"");
  }
  for (std::size_t slot = static_cast<std::size_t>(fact.slots); slot < known->owners.size(); ++slot) {
    const Worker* owner = state.find_worker(known->owners[slot]);
    if (owner == nullptr) continue;
    if (contains(fact.running, owner->id) || may_still_start(*owner)) {
      return conflict(fact.node.text() + " came back with " + std::to_string(fact.slots) + " slots while " +
                      owner->id.text() + " holds slot " + std::to_string(slot) +
                      "; start its agent with as many slots as before, or, if they are gone, once the node is lost: " +
                      "schedctl node remove " + known->name);
    }
  }
  return ok_status();
}

// The agent is back and lists the worker.
void regain_sight_of(StateChange& change, WorkerId id) {
  Worker& worker = change.worker(id);
  if (worker.node_lost && worker.phase == WorkerPhase::kLeaving) worker.stop_due.reset();
  worker.node_lost = false;
  worker.kill_at.reset();       // the stop may not have arrived; the next decision orders it again
  worker.track.probed = false;  // the order to probe its node may not have arrived either
}

Status check_length(const WorkerReady& fact) {
  const bool both = fact.work_steps && fact.work_samples;
  if (!both && fact.work_steps.value_or(1) >= 1 && fact.work_samples.value_or(1) >= 1) return ok_status();
  return invalid_argument(fact.worker.text() +
                          " reports an invalid length of its training: it needs either steps or samples, at least 1");
}

// For a program that is restarted at each size: its worker was ready before the program ran.
void hear_length(StateChange& change, const Worker& worker, const ProgramLength& told) {
  const bool is_told = worker.launched > 0 && (told.steps || told.samples);
  if (!is_told || change.state().find_job(worker.job)->progress.length == told) return;
  change.job(worker.job).progress.length = told;
}

// Returns the node's workers that its reconnected agent does not list.
std::vector<WorkerId> regain_workers(StateChange& change, const Node& node, const std::vector<WorkerId>& running) {
  std::vector<WorkerId> gone;
  for (const WorkerId id : workers_on(node)) {
    // The planner decides again; a changed price applies from now on, so charge first.
    (void)change.job(change.worker(id).job);
    if (contains(running, id)) {
      regain_sight_of(change, id);
    } else if (!may_still_start(change.worker(id))) {
      gone.push_back(id);
    }
  }
  return gone;
}

// For jobs with workers on a node whose agent is back.
void take_back_jobs(StateChange& change, const Node& node) {
  IdSet<JobId> jobs;
  for (const WorkerId id : workers_on(node)) jobs.insert(change.worker(id).job);
  for (const JobId id : jobs) {
    Job& job = change.job(id);
    const bool waits_here = job.recovery.moving && job.recovery.moving->to == node.id;
    if (waits_here && !node.moves_states) give_up_move(change, job, "the agent there is of a version that moves none");
    take_back(change, job);
  }
}

}  // namespace

Status check_worker(const ClusterState& state, WorkerId id) {
  if (id && id.number() < state.next_worker) return ok_status();
  return not_found("there has never been a worker " + id.text());
}

Status apply(StateChange& change, const NodeJoined& fact) {
  TP_TRY(check_joined(change.state(), fact));
  prices_until_now(change);
  const bool known = change.state().find_node(fact.node) != nullptr;
  if (!known) {
    change.state().nodes[fact.node].id = fact.node;
    ++change.state().next_node;
  }
  Node& node = change.node(fact.node);
  change.state().pools.set_gone(fact.node, false);
  const bool was_up = known && node.state == NodeState::kUp;
  node.name = fact.name;
  node.state = NodeState::kUp;
  const std::vector<WorkerId> gone = regain_workers(change, node, fact.running);
  node.slot_type = fact.slot_type;
  set_own_price(change, node, fact.price_per_slot_hour);
  node.data_address = fact.data_address;
  node.isolation = fact.isolation;
  node.labels_given = fact.labels;
  node.moves_states = fact.moves_states;
  node.gives_notice = fact.gives_notice;
  node.memory_per_slot = fact.memory_per_slot;
  join_pool(change, node, fact.slots);
  remove_exited_workers(change, gone, {.detail = "its agent came back without it"});
  take_back_jobs(change, node);
  node.owners.resize(static_cast<std::size_t>(fact.slots));
  reprice(change, fact.node);
  change.capacity_changed();
  if (!was_up) {
    change.emit("node.joined", node, {{"name", node.name}, {"slots", fact.slots}, {"slot_type", node.slot_type}});
  }
  return ok_status();
}

Status apply(StateChange& change, const NodeLost& fact) {
  const Node* known = change.state().find_node(fact.node);
  if (known == nullptr) return not_found("there is no " + fact.node.text());
  if (known->state == NodeState::kLost) return ok_status();
  if (fact.given_back) prices_until_now(change);
  Node& node = change.node(fact.node);
  node.state = NodeState::kLost;
  change.capacity_changed();
  if (fact.given_back) {
    change.state().pools.set_gone(fact.node, true);
    reprice(change, fact.node);
  } else {
    change.emit("node.lost", node, {{"name", node.name}, {"why", fact.why}});
    if (!fact.stopped) note_loss(change, fact.node, fact.why);
  }
  mark_node_lost(change, workers_on(node), fact);
  return ok_status();
}

Status apply(StateChange& change, const NodeProbed& fact) {
  const Node* known = change.state().find_node(fact.node);
  if (known == nullptr) return not_found("there is no " + fact.node.text());
  const bool sound = !fact.devices.empty() &&
                     std::all_of(fact.devices.begin(), fact.devices.end(),
                                 [](const auto& each) { return each.matmul_gflops > 0 && each.copy_gbps > 0; });
  if (!sound) return invalid_argument("a probe of " + fact.node.text() + " needs figures above zero of each device");
  Node& node = change.node(fact.node);
  NodeHealth health{.devices = fact.devices, .at = change.at()};
  health.best_gflops = slowest_gflops(health);
  health.best_copy_gbps = slowest_copy_gbps(health);
  if (node.health && same_devices(*node.health, health)) {
    health.best_gflops = std::max(health.best_gflops, node.health->best_gflops);
    health.best_copy_gbps = std::max(health.best_copy_gbps, node.health->best_copy_gbps);
  }
  node.health = std::move(health);
  // The probe may show the cause of slowness of workers there.
  for (const WorkerId id : workers_on(node)) (void)change.job(change.worker(id).job);
  change.emit("node.probed", node, probed_data(change.state(), node));
  return ok_status();
}

Status apply(StateChange& change, const NodeCordonChanged& fact) {
  const Node* known = change.state().find_node(fact.node);
  if (known == nullptr) return not_found("there is no " + fact.node.text());
  if (known->cordoned == fact.cordoned) return ok_status();
  Node& node = change.node(fact.node);
  node.cordoned = fact.cordoned;
  change.capacity_changed();
  change.emit("node.cordoned", node, {{"name", node.name}, {"cordoned", fact.cordoned}});
  return ok_status();
}

Status apply(StateChange& change, const NodeLabelled& fact) {
  const Node* known = change.state().find_node(fact.node);
  if (known == nullptr) return not_found("there is no " + fact.node.text());
  LabelChanges set = known->labels_set;
  for (const auto& [key, value] : fact.labels) {
    if (key.empty() || is_implied_label(key)) {
      return invalid_argument("the label \"" + key + "\" follows from the node and cannot be set");
    }
    if (value || known->labels_given.contains(key)) {
      set[key] = value;
    } else {
      set.erase(key);
    }
  }
  if (set.size() > kNodeLabelsMax) {
    return invalid_argument(known->name + " would have " + std::to_string(set.size()) + " labels of its own; at most " +
                            std::to_string(kNodeLabelsMax) + " are kept, so take some away first (KEY-)");
  }
  if (set == known->labels_set) return ok_status();
  prices_until_now(change);
  Node& node = change.node(fact.node);
  const Labels before = labels_of(node);
  node.labels_set = std::move(set);
  Labels labels = labels_of(node);
  if (labels == before) return ok_status();
  reprice(change, fact.node);
  change.capacity_changed();
  change.emit("node.labelled", node, {{"name", node.name}, {"labels", std::move(labels)}});
  return ok_status();
}

Status apply(StateChange& change, const WorkerReady& fact) {
  TP_TRY(check_worker(change.state(), fact.worker));
  TP_TRY(check_length(fact));
  const Worker* worker = change.state().find_worker(fact.worker);
  if (worker == nullptr) return ok_status();
  if (worker->phase != WorkerPhase::kStarting) {
    hear_length(change, *worker, {fact.work_steps, fact.work_samples});
    return ok_status();
  }
  note_start(change, worker->node);
  Job& job = change.job(worker->job);
  if (fact.work_steps || fact.work_samples) job.progress.length = {fact.work_steps, fact.work_samples};
  if (job.recovery.moving && awaits(*job.recovery.moving, *worker)) {
    // Its agent may have been restarted since, and no longer know what it has brought.
    give_up_unseen_move(change, job, fact.worker);
  } else if (!worker->boot_unseen) {
    const Duration booted = change.at() - worker->started_at;
    note_cost(job.measurements.boot_cost, size_with_joining(job), booted.to_seconds() * 1e3);
  }
  change.worker(fact.worker).phase = WorkerPhase::kReady;
  return ok_status();
}

Status apply(StateChange& change, const WorkerJoining& fact) {
  TP_TRY(check_worker(change.state(), fact.worker));
  const Worker* worker = change.state().find_worker(fact.worker);
  if (worker == nullptr) return ok_status();
  const Job& job = *change.state().find_job(worker->job);
  if (fact.generation <= worker->joining || fact.generation > job.membership.generation) return ok_status();
  (void)change.job(worker->job);
  Worker& joining = change.worker(fact.worker);
  joining.joining = fact.generation;
  if (joining.phase == WorkerPhase::kMember) joining.notice.reset();  // its program has ended
  return ok_status();
}

Status apply(StateChange& change, const WorkerStuck& fact) {
  TP_TRY(check_worker(change.state(), fact.worker));
  const Worker* worker = change.state().find_worker(fact.worker);
  if (worker == nullptr || worker->stuck || fact.lasted < Duration()) return ok_status();
  Job& job = change.job(worker->job);
  book_wait(change.state(), job, fact.lasted, Overhead::kIdle);
  Worker& stuck = change.worker(fact.worker);
  stuck.stuck = StuckNotice{fact.step, fact.lasted};
  change.emit("worker.stuck", job, stuck.node,
              {{"worker", fact.worker.text()},
               {"step", fact.step},
               {"phase", fact.phase},
               {"seconds", fact.lasted.to_seconds()}});
  return ok_status();
}

Status apply(StateChange& change, const WorkerExited& fact) {
  TP_TRY(check_worker(change.state(), fact.worker));
  const Worker* worker = change.state().find_worker(fact.worker);
  if (worker == nullptr) return ok_status();
  const bool counts_against_node = note_exit(change, *worker, fact);
  remove_exited_workers(change, {fact.worker},
                        {.exit_code = fact.exit_code,
                         .signal = fact.signal,
                         .detail = fact.detail,
                         .never_joined = fact.never_joined,
                         .never_stepped = fact.never_stepped,
                         .nothing_started = counts_against_node});
  return ok_status();
}

}  // namespace tidepool::core
