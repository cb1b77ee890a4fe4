// The machines of a simulated world: nodes with their agents, and the processes of workers that run there.
//
// Safe rule. A message may be late, repeated or lost with its connection, but a death is told only of a process that
// has died, and what an agent could not say it says when it is back.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/overloaded.hpp"
#include "tests/support/random_wishes.hpp"
#include "tests/support/world_record.hpp"

namespace tidepool::test {

class WorldMachines : public WorldRecord {
 public:
  using WorldRecord::WorldRecord;

  // Nodes bring shares of memory that differ, and again when they rejoin, and half of the jobs ask for some.
  void share_memory() {
    shares_memory_ = true;
    for (const auto& [id, agent] : agents_) rejoin(id);
  }

  // A machine comes up, or comes anew under a name that an earlier one had.
  void boot(const std::string& name, int slots) {
    const NodeId id = engine_.node_id_for(name);
    agents_[id] = {.name = name, .slots = slots, .connected = true, .slot_type = "fast", .unsent = {}};
    REQUIRE(learn(joined(id, name, slots, "fast", Money::micros(1'000'000), {})));
  }

  // It ends with all that runs there, and its agent is missed.
  void end_machine(const std::string& name) {
    for (auto& [id, agent] : agents_) {
      if (agent.name != name || agent.has_ended) continue;
      std::erase_if(processes_, [&](const auto& any) { return any.second.node == id; });
      agent.connected = false;
      agent.has_ended = true;
      agent.unsent.clear();
      learn(core::NodeLost{id, "no heartbeat", state().pools.gives_back(id)});
    }
  }

  // A node is lost, comes back, or is gone for less time than it would take to miss it.
  void node_acts() {
    const NodeId id = pick(agents_);
    Agent& agent = agents_.at(id);
    if (agent.has_ended) return;
    if (!agent.connected) return rejoin(id);
    if (rng_.chance(0.3)) return rejoin(id);  // a blip: back before it was missed
    agent.connected = false;
    learn(core::NodeLost{id, "no heartbeat", state().pools.gives_back(id)});
  }

  // A lost node is removed, and another machine takes its name.
  void exchange_machine(NodeId id) {
    const Agent old = agents_.at(id);
    if (!old.connected && !old.has_ended && learn(core::NodeRemoved{id})) replace_machine(old);
  }

  // Carries out what was decided: messages to agents whose connection stands.
  void carry_out(const core::Decision& decision) {
    for (const auto& planned : decision.plan) {
      std::visit(Overloaded{[&](const core::StartIntent& intent) { start(intent.joining_workers); },
                            [&](const core::GrowIntent& intent) { start(intent.joining_workers); },
                            [&](const core::ReplaceIntent& intent) { start({intent.joining_worker}); },
                            [&](const core::MoveIntent& intent) { start(intent.joining_workers); },
                            [&](const core::StopWorkerIntent& intent) { stop(intent.worker); }, [](const auto&) {}},
                 planned.intent);
    }
  }

 protected:
  struct Agent {
    std::string name;
    int slots = 0;
    bool connected = true;
    std::string slot_type;
    std::vector<core::Fact> unsent;  // exits to report once the connection is back
    bool has_ended = false;          // its machine is no more
  };

  struct Process {
    NodeId node;
    JobId job;
    bool told_to_stop = false;
    bool hangs = false;  // does nothing more until it is killed
    bool held = false;   // it has ended, and its slots are not free
  };

  void add_nodes() {
    const auto nodes = rng_.between(1, 5);
    for (std::int64_t i = 0; i < nodes; ++i) add_node();
  }

  void add_node() {
    const std::string name = "n" + std::to_string(agents_.size() + 1);
    const NodeId id = engine_.node_id_for(name);
    const int slots = static_cast<int>(rng_.between(2, 6));
    const std::string type = typed_ && rng_.chance(0.5) ? "slow" : "fast";
    agents_[id] = {name, slots, true, type, {}};
    learn(joined(id, name, slots, type, Money::micros(rng_.between(1, 3'000'000)), {}));
  }

  void process_dies() {
    if (processes_.empty()) return;
    if (closes_nodes_ && rng_.chance(0.3)) return hold(pick(processes_));
    const auto draw = rng_.below(10);
    die(pick(processes_), draw == 0 ? 2 : draw < 4 ? 0 : 1);
    if (draw > 7 && !processes_.empty()) die(pick(processes_), 1);
  }

  // Its agent notices, or only the deadlines do.
  void process_hangs() {
    if (processes_.empty()) return;
    const WorkerId id = pick(processes_);
    processes_.at(id).hangs = true;
    if (!agents_.at(processes_.at(id).node).connected || rng_.chance(0.3)) return;
    learn(core::WorkerStuck{id, rng_.between(0, 50), "computing", Duration::seconds(rng_.between(0, 90))});
  }

  // Its program ends, and something of it stays.
  void hold(WorkerId id) {
    processes_.at(id).hangs = processes_.at(id).held = true;
    if (agents_.at(processes_.at(id).node).connected) report_held(id);
  }
  void report_held(WorkerId id) {
    const int code = static_cast<int>(id.number() % 3);
    learn(core::SlotsHeld{id, Duration::millis(rng_.between(0, 9'000)), "memory of GPU-1 is still held", code, 0,
                          "died"});
  }

  void die(WorkerId id, int code) {
    const Process process = processes_.at(id);
    processes_.erase(id);
    core::Fact exit = core::WorkerExited{id, code, 0, "died"};
    Agent& agent = agents_.at(process.node);
    if (agent.connected) {
      learn(std::move(exit));
    } else {
      agent.unsent.push_back(std::move(exit));
    }
  }

  // Two thirds of the agents bring saved states, and most tell programs that they are to leave.
  core::NodeJoined joined(NodeId id, const std::string& name, int slots, const std::string& type, Money price,
                          const std::vector<WorkerId>& running) {
    return {.node = id,
            .name = name,
            .slots = slots,
            .slot_type = type,
            .price_per_slot_hour = price,
            .running = running,
            .moves_states = id.number() % 3 != 0,
            .gives_notice = id.number() % 4 != 0,
            .memory_per_slot = shares_memory_ ? random_share(rng_) : std::nullopt};
  }

  void rejoin(NodeId id) {
    if (state().find_node(id) == nullptr) return replace_machine(agents_.at(id));
    Agent& agent = agents_.at(id);
    agent.connected = true;
    std::vector<WorkerId> running;
    for (const auto& [worker, process] : processes_) {
      if (process.node == id) running.push_back(worker);
    }
    REQUIRE(learn(joined(id, agent.name, agent.slots, agent.slot_type, Money::micros(1'000'000), running)));
    for (const WorkerId unknown : core::unknown_workers(state(), id, running)) processes_.erase(unknown);
    // Starts that had not arrived are sent again.
    std::vector<core::WorkerPlacement> again;
    for (const auto& [worker, seen] : state().workers) {
      const bool never_came = seen.node == id && seen.phase == core::WorkerPhase::kStarting && !seen.kill_at;
      if (never_came && !processes_.contains(worker)) again.push_back({worker, id, seen.slots});
    }
    start(again);
    for (auto& exit : std::exchange(agent.unsent, {})) learn(std::move(exit));
    for (const auto& [worker, process] : processes_) {
      if (process.node == id && process.held) report_held(worker);
    }
  }

  void start(const std::vector<core::WorkerPlacement>& placements) {
    for (const auto& placement : placements) {
      if (!agents_.at(placement.node).connected || (faults_ && rng_.chance(0.03))) continue;
      processes_[placement.worker] = {placement.node, state().find_worker(placement.worker)->job};
    }
  }

  void stop(WorkerId id) {
    const auto found = processes_.find(id);
    if (found != processes_.end()) {
      if (agents_.at(found->second.node).connected) found->second.told_to_stop = true;
      return;
    }
    // An agent that never got the start says so.
    const core::Worker* worker = state().find_worker(id);
    if (worker != nullptr && agents_.at(worker->node).connected)
      learn(core::WorkerExited{.worker = id, .detail = "never started", .nothing_started = true});
  }

  // Its node has left the state.
  void replace_machine(const Agent& machine) {
    const std::string name = machine.name;
    end_machine(name);
    boot(name, machine.slots);
  }

  std::map<NodeId, Agent> agents_;
  std::map<WorkerId, Process> processes_;
  bool shares_memory_ = false;
  bool closes_nodes_ = false;  // slots stay held now and then
};

}  // namespace tidepool::test
