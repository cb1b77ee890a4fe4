// The world outside the daemon: machines with their agents, processes and the training in these. The agents are the
// real ones (node_agent.hpp) over modelled processes, which carry out requests and report what happens to them. The
// fleet keeps a reference record of which process holds which slot, independent of the daemon's. States that must never
// occur are in violations().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "base/rng.hpp"
#include "base/time.hpp"
#include "sim/cluster_model.hpp"
#include "sim/fault_mix.hpp"
#include "sim/messages.hpp"
#include "sim/node_agent.hpp"
#include "sim/training_run.hpp"

namespace tidepool::sim {

// Events of the world itself.
struct BootDone {
  WorkerId worker;
};
struct ProcessEnds {
  WorkerId worker;
  int exit_code = 0;
  int signal = 0;
};
struct ReportDue {
  JobId job;
  std::uint64_t token = 0;
};
struct SwitchDue {
  JobId job;
  std::uint64_t token = 0;
};
struct ParkDone {
  JobId job;
  std::uint64_t token = 0;
};
// The program of a restartable worker has saved its checkpoint and exits, as requested.
struct ProgramStops {
  WorkerId worker;
  GenerationNumber generation = 0;
};
// All programs of a generation have booted.
struct StepsBegin {
  JobId job;
  std::uint64_t token = 0;
};
// The agent's timer.
struct NodeWakes {
  int node = 0;
};
struct NodeReturns {
  int node = 0;
};
// The notice period has ended: the provider reclaims the machine.
struct NodeReclaimed {
  int node = 0;
  Duration lasts;
};
struct NodeRecovers {  // from being slow or noisy
  int node = 0;
};
// More bytes of a checkpoint in transfer have arrived, or its transfer has failed.
struct StateComes {
  JobId job;
  std::uint64_t transfer = 0;
};
using FleetEvent = std::variant<BootDone, ProcessEnds, ReportDue, SwitchDue, ParkDone, ProgramStops, StepsBegin,
                                NodeWakes, NodeReturns, NodeReclaimed, NodeRecovers, StateComes>;

class Fleet {
 public:
  struct Setup {
    ClusterShape cluster;
    std::vector<NodeKind> kinds;  // by node; empty = all as in `cluster`
    std::uint64_t seed = 1;
    Duration report_every = Duration::seconds(30);
    std::int64_t report_steps_max = 1'000'000;
    bool compute_times = false;  // reports carry compute times by rank
    // Bytes a second at which nodes transfer checkpoints. 0: the location of checkpoints is not modelled, and a job
    // continues from its last step on any node.
    std::int64_t state_rate = 0;
    std::function<const GroundTruth&(const std::string& job_name)> truth_of;
    std::function<void(Instant, FleetEvent)> later;       // schedules
    std::function<void(int node, Incoming)> to_daemon;    // sends a message on the node's link
    std::function<void(int node)> open_link;              // for its agent, as soon as possible
    std::function<void(int node)> close_link;             // for its agent
    std::function<void(Instant, JobId, int slots)> held;  // the job's processes hold this many more slots (< 0: fewer)
  };
  explicit Fleet(Setup setup);

  // All machines are switched on.
  void boot(Instant now);
  // Another machine is switched on. Returns its index.
  int add(const std::string& name, const NodeKind& kind, Instant now);
  // The machine is removed with everything on it and does not come back.
  void remove(int node, Instant now);
  // Its agent gets the notice that the machine is reclaimed at that time.
  void give_notice(int node, Instant ends, Instant now);
  void receive(int node, api::DaemonToAgent message, Instant now);
  void happen(const FleetEvent& event, Instant now);
  void break_something(const Fault& fault, Instant now);

  // All machines, present and former.
  [[nodiscard]] int nodes() const { return static_cast<int>(nodes_.size()); }
  [[nodiscard]] const std::string& name(int node) const { return at(node).name; }
  [[nodiscard]] bool reachable(int node) const { return at(node).reachable; }
  void link_opened(int node, Instant now);
  void link_closed(int node, Instant now);

  // No process runs and no exit waits for its acknowledgement.
  [[nodiscard]] bool quiet() const;
  // Steps that the workers of this job have committed.
  [[nodiscard]] std::int64_t steps_done(JobId job) const;
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

 private:
  class Hands;
  struct Process {
    JobId job;
    std::vector<int> slots;
    bool is_seat = false;
    bool ready = false;
    bool ending = false;
    bool ignores_notice = false;
    bool stuck = false;
    double slowdown = 1;
    GenerationNumber heard = 0;      // newest generation received
    GenerationNumber member_of = 0;  // newest generation in which it has stepped
    // Of a restartable worker, whose program comes and goes:
    GenerationNumber runs = 0;  // generation of the running program; 0 = none
    bool stopping = false;      // that program was asked to exit
  };
  struct Node {
    std::string name;
    NodeKind kind;
    NodeAgent agent;
    bool reachable = true;
    bool gone = false;
    std::optional<agent::ReclaimLooked> notice;  // as its agent sees it; none = never given
    RankPace pace;                               // of healthy processes
    std::map<WorkerId, Process> processes;
    std::map<JobId, std::set<std::int64_t>> states;                   // on its disk, by their steps
    std::map<JobId, std::pair<std::int64_t, std::int64_t>> incoming;  // step, and bytes received
  };
  struct Ticket {
    JobId job;
    std::int64_t step = 0;
    int from = 0;
  };
  struct Transfer {
    std::uint64_t number = 0;
    std::int64_t step = 0;
    int from = 0;
    int to = 0;
    Instant since;  // arrival of the newest bytes
  };

  // Actions of agents (through Hands).
  void begin_worker(int node, const api::StartWorker& start, Instant now);
  void signal(WorkerId worker, int number, Instant now);
  void on_message(WorkerId worker, const api::ToWorker& message, Instant now);
  void relink(int node, Instant now);
  void greet(int node, std::vector<WorkerId> running);

  void on(const BootDone& event, Instant now);
  void on(const ProcessEnds& event, Instant now);
  void on(const ReportDue& event, Instant now);
  void on(const SwitchDue& event, Instant now);
  void on(const ParkDone& event, Instant now);
  void on(const ProgramStops& event, Instant now);
  void on(const StepsBegin& event, Instant now);
  void on(const NodeWakes& event, Instant now);
  void on(const NodeReturns& event, Instant now);
  void on(const NodeReclaimed& event, Instant now);
  void on(const NodeRecovers& event, Instant now);
  void on(const StateComes& event, Instant now);

  // Checkpoints (fleet_states.cpp).
  void keep_state(const TrainingRun& run, WorkerId writer);
  [[nodiscard]] std::int64_t newest_state_at(JobId job, const std::vector<WorkerId>& members) const;
  void restore(TrainingRun& run, const api::GenerationMessage& commit);
  void ask_for_state(int node, JobId job, std::int64_t step, Instant now);
  void fetch_state(int node, const api::FetchState& from, Instant now);
  void abandon_fetch(int node, JobId job);
  void offer_state(int node, const api::OfferState& order);

  // Restartable workers (fleet_programs.cpp).
  void begin_program(WorkerId worker, const agent::RestartableWorker::StartProgram& what, Instant now);
  void ask_program_to_end(WorkerId worker, Instant now);
  void program_ends(WorkerId worker, int exit_code, int signal, Instant now);
  [[nodiscard]] bool all_run(const TrainingRun& run) const;

  [[nodiscard]] static RankPace usual_pace(const NodeKind& kind);
  void add_machine(const std::string& name, const NodeKind& kind);
  void switch_on(int node, Instant now);
  void break_node(int node, const Fault& fault, Instant now);
  void occupy(int node, const api::StartWorker& start);
  void release(WorkerId worker, Instant now);
  void note_held(const Process& process, int sign, Instant now) const;
  [[nodiscard]] TrainingRun& run_of(const api::StartWorker& start);
  void cut_off(int node, bool crashed, Instant now);
  [[nodiscard]] std::vector<int> present() const;
  void reclaim(int node, const Fault& fault, Instant now);
  void kill(WorkerId worker, Instant now);
  void strike(const Fault& fault, WorkerId victim, Instant now);

  // Training (fleet_training.cpp).
  void on_generation(WorkerId worker, const api::GenerationMessage& message, Instant now);
  void on_shares(JobId job, const api::SharesMessage& message, Instant now);
  void send_joining(WorkerId worker, const api::GenerationMessage& message, Instant now);
  void send_position(WorkerId worker, Instant now);
  void move_on(TrainingRun& run, Instant now);
  void try_park(TrainingRun& run, Instant now);
  void try_switch(TrainingRun& run, Instant now);
  void halt(TrainingRun& run, Instant now);
  void resume(TrainingRun& run, Instant now);
  void use_newest_shares(TrainingRun& run, Instant now);
  void schedule_report(TrainingRun& run);
  void finish(TrainingRun& run, Instant now);
  void send_steps(TrainingRun& run, Instant now);
  void report_restored(const TrainingRun& run, const api::GenerationMessage& commit, Instant now);
  void dismiss_leaving_workers(const TrainingRun& run, Instant now);
  [[nodiscard]] api::ReadyMessage ready(const Process& process) const;

  [[nodiscard]] bool is_present(WorkerId worker) const;
  [[nodiscard]] bool all_present(const std::vector<WorkerId>& members) const;
  // Whether all present members have received the newest generation.
  [[nodiscard]] bool all_know_of(const std::vector<WorkerId>& members, GenerationNumber number) const;
  [[nodiscard]] std::vector<int> workers_by_node(const TrainingRun& run) const;
  [[nodiscard]] std::vector<RankPace> paces(const TrainingRun& run) const;
  [[nodiscard]] Process* find(WorkerId worker);
  [[nodiscard]] const Process* find(WorkerId worker) const;
  [[nodiscard]] Node& at(int node) { return nodes_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] const Node& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  void feed(int node, agent::Fact fact, Instant now);
  void say(WorkerId worker, api::FromWorker message, Instant now);

  Setup setup_;
  Rng rng_;
  std::vector<Node> nodes_;
  std::map<JobId, TrainingRun> runs_;
  std::map<JobId, std::set<std::pair<int, WorkerId>>> processes_of_;  // by node, then worker
  std::map<std::string, Ticket> tickets_;                             // not used yet
  std::map<JobId, Transfer> transfers_;                               // in progress
  std::map<JobId, std::pair<std::int64_t, int>> brought_;  // step and node of the newest transferred checkpoint
  std::uint64_t next_transfer_ = 1;
  std::map<WorkerId, int> where_;  // of every worker ever started
  std::vector<std::string> violations_;
};

}  // namespace tidepool::sim
