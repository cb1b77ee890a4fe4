// The agent of one simulated machine: the real AgentState over a state directory in memory, which outlives agents as
// the disk outlives a crash. Facts go in; what the agent then does to processes and links goes through Machine.
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

// What an agent can do on its machine and to its link.
class Machine {
 public:
  virtual ~Machine() = default;

  // A worker takes its slots: its process is started, or it is a restartable worker, whose program comes and goes.
  virtual void begin_worker(const api::StartWorker& order) = 0;
  virtual void begin_program(WorkerId worker, const agent::RestartableWorker::StartProgram& what) = 0;
  virtual void signal(WorkerId worker, int number) = 0;
  // Nothing of the worker is left: its exit is on record.
  virtual void end_worker(WorkerId worker) = 0;
  virtual void on_message(WorkerId worker, const api::ToWorker& message) = 0;
  // Each worker connects to its agent again and says where it stands.
  virtual void relink_workers() = 0;

  // Saved states of jobs: looked for, fetched, no longer fetched, handed over.
  virtual void ask_for_state(JobId job, std::int64_t step) = 0;
  virtual void fetch_state(const api::FetchState& from) = 0;
  virtual void abandon_fetch(JobId job) = 0;
  virtual void offer_state(const api::OfferState& order) = 0;

  virtual void open_link() = 0;
  virtual void close_link() = 0;
  virtual void greet(std::vector<WorkerId> running) = 0;
  virtual void send(api::AgentToDaemon message) = 0;
  // The agent has something to do then, if nothing else comes first.
  virtual void wake_at(Instant at) = 0;
};

class NodeAgent {
 public:
  explicit NodeAgent(std::uint64_t seed) : seed_(seed) {}

  // The machine is switched on: an agent starts over what the disk holds, and looks for its daemon.
  void boot(Machine& machine, Instant now);
  // The machine loses its power. What is on record stays.
  void crash();
  // Nothing happens on a machine that is off.
  void feed(agent::Fact fact, Machine& machine, Instant now);
  // Something may be due.
  void wake(Machine& machine, Instant now);

  [[nodiscard]] bool runs() const { return state_.has_value(); }
  [[nodiscard]] bool all_acknowledged() const { return disk_.history.unacknowledged.empty(); }

 private:
  // What is kept of a restartable worker, as the agent's files have it.
  struct ProgramRecord {
    api::StartWorker order;
    GenerationNumber generation = 0;  // of the address that was offered last
    int rank = 0;
    bool started = false;                    // a program in it
    std::optional<api::EndedMessage> ended;  // how that has ended by itself
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
  std::deque<agent::Fact> facts_;  // that arose while actions are carried out, so that these keep their order
  bool feeding_ = false;
  std::optional<Instant> wake_at_;
};

}  // namespace tidepool::sim
