// The agent of one simulated machine: the real AgentState over a state directory in memory, which survives agents as a
// disk survives a crash. It receives facts; the agent's actions on processes and links go through Machine.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"
#include "workers/agent/state/agent_state.hpp"

namespace tidepool::sim {

// The actions of an agent on its machine and its link.
class Machine {
 public:
  virtual ~Machine() = default;

  // A worker takes its slots: its process is started, or it is a restartable worker, whose programs start and exit
  // while it exists.
  virtual void begin_worker(const api::StartWorker& order) = 0;
  virtual void begin_program(WorkerId worker, const agent::RestartableWorker::StartProgram& what) = 0;
  virtual void signal(WorkerId worker, int number) = 0;
  // The worker has no process left: its exit is recorded.
  virtual void end_worker(WorkerId worker) = 0;
  virtual void on_message(WorkerId worker, const api::ToWorker& message) = 0;
  // Each worker connects to its agent again and reports its state.
  virtual void relink_workers() = 0;

  // Checkpoints of jobs: search, fetch, cancel a fetch, send.
  virtual void ask_for_state(JobId job, std::int64_t step) = 0;
  virtual void fetch_state(const api::FetchState& from) = 0;
  virtual void abandon_fetch(JobId job) = 0;
  virtual void offer_state(const api::OfferState& order) = 0;

  virtual void open_link() = 0;
  virtual void close_link() = 0;
  virtual void greet(std::vector<WorkerId> running) = 0;
  virtual void send(api::AgentToDaemon message) = 0;
  // Wakes the agent at that time, if nothing else does before.
  virtual void wake_at(Instant at) = 0;
};

class NodeAgent {
 public:
  explicit NodeAgent(std::uint64_t seed) : seed_(seed) {}

  // The machine is switched on: an agent starts with what is on the disk, and connects to its daemon.
  void boot(Machine& machine, Instant now);
  // The machine loses its power. The disk keeps its contents.
  void crash();
  // No effect on a machine that is off.
  void feed(agent::Fact fact, Machine& machine, Instant now);
  // A timer may be due.
  void wake(Machine& machine, Instant now);

  [[nodiscard]] bool runs() const { return state_.has_value(); }
  [[nodiscard]] bool all_acknowledged() const { return disk_.history.unacknowledged.empty(); }

 private:
  // The stored record of a restartable worker, as in the agent's files.
  struct ProgramRecord {
    api::StartWorker order;
    GenerationNumber generation = 0;  // of the address that was offered last
    int rank = 0;
    bool started = false;                    // a program in it
    std::optional<api::EndedMessage> ended;  // how it has exited by itself
  };
  struct Disk {
    agent::RecordedWorkers history;
    std::map<WorkerId, ProgramRecord> programs;
  };

  void adopt_workers(Machine& machine, Instant now);
  void carry_out(agent::Action& action, Machine& machine, Instant now);
  void record(const agent::Action& action);
  void arm(Machine& machine, Instant now);

  std::uint64_t seed_;
  Disk disk_;
  std::optional<agent::AgentState> state_;
  std::deque<agent::Fact> facts_;  // that occurred during actions, queued to keep their order
  bool feeding_ = false;
  std::optional<Instant> wake_at_;
};

}  // namespace tidepool::sim
