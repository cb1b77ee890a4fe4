// The world outside the daemon: machines with their agents, the processes on them and the training that goes on in
// these. The agents are the real ones (node_agent.hpp) over modelled processes, which do what they are told and say
// what happens to them. A reference ledger is kept here, beside the daemon's: which process really holds which slot.
// States that must never occur are in violations().
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

// What will happen in the world by itself.
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
// The program of a restartable worker has saved its state and ends, as it was asked to.
struct ProgramStops {
  WorkerId worker;
  GenerationNumber generation = 0;
};
// All programs of a generation have booted.
struct StepsBegin {
  JobId job;
  std::uint64_t token = 0;
};
// Its agent has asked to be woken.
struct NodeWakes {
  int node = 0;
};
struct NodeReturns {
  int node = 0;
};
// Its notice is over: the provider takes the machine back.
struct NodeReclaimed {
  int node = 0;
  Duration lasts;
};
struct NodeRecovers {  // from being slow or noisy
  int node = 0;
};
// More of a state that is fetched has come, or its transfer has broken.
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
    std::vector<NodeKind> kinds;  // by node; empty = all are as `cluster` says
    std::uint64_t seed = 1;
    Duration report_every = Duration::seconds(30);
    std::int64_t report_steps_max = 1'000'000;
    bool compute_times = false;  // reports carry compute times by rank
    // Bytes a second at which nodes hand each other saved states. 0: where a state lies is not modelled, and a job goes
    // on from its last step wherever it starts.
    std::int64_t state_rate = 0;
    std::function<const GroundTruth&(const std::string& job_name)> truth_of;
    std::function<void(Instant, FleetEvent)> later;       // schedules
    std::function<void(int node, Incoming)> to_daemon;    // hands a message to the node's link
    std::function<void(int node)> open_link;              // its agent wants one, as soon as there can be one
    std::function<void(int node)> close_link;             // its agent does
    std::function<void(Instant, JobId, int slots)> held;  // so many more slots (< 0: fewer) have its processes
  };
  explicit Fleet(Setup setup);

  // All machines are switched on.
  void boot(Instant now);
  // Another machine is switched on. Returns its index.
  int add(const std::string& name, const NodeKind& kind, Instant now);
  // It is gone with all that is on it and does not come back.
  void remove(int node, Instant now);
  // Its agent hears that the machine is taken away then.
  void give_notice(int node, Instant ends, Instant now);
  void receive(int node, api::DaemonToAgent message, Instant now);
  void happen(const FleetEvent& event, Instant now);
  void break_something(const Fault& fault, Instant now);

  // Machines that there are or were.
  [[nodiscard]] int nodes() const { return static_cast<int>(nodes_.size()); }
  [[nodiscard]] const std::string& name(int node) const { return at(node).name; }
  [[nodiscard]] bool reachable(int node) const { return at(node).reachable; }
  void link_opened(int node, Instant now);
  void link_closed(int node, Instant now);

  // No process runs and no exit waits for its acknowledgement.
  [[nodiscard]] bool quiet() const;
  // Steps that the workers of this job have really committed.
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
    GenerationNumber heard = 0;      // newest generation it has been told of
    GenerationNumber member_of = 0;  // newest generation it has stepped in
    // Of a restartable worker, whose program comes and goes:
    GenerationNumber runs = 0;  // generation of the program that lives; 0 = none
    bool stopping = false;      // that program has been asked to end
  };
  struct Node {
    std::string name;
    NodeKind kind;
    NodeAgent agent;
    bool reachable = true;
    bool gone = false;
    std::optional<agent::ReclaimLooked> notice;  // as its agent sees it; none = none was ever given
    RankPace pace;                               // of healthy processes
    std::map<WorkerId, Process> processes;
    std::map<JobId, std::set<std::int64_t>> states;                   // on its disk, by their steps
    std::map<JobId, std::pair<std::int64_t, std::int64_t>> incoming;  // step, and bytes of it that have come
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
    Instant since;  // newest bytes
  };

  // What agents do (through Hands).
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

  // Saved states (fleet_states.cpp).
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
  // Of the members that are present all know of the newest generation.
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
  std::map<JobId, Transfer> transfers_;                               // under way
  std::map<JobId, std::pair<std::int64_t, int>> brought_;  // step and node of what was brought last for the job
  std::uint64_t next_transfer_ = 1;
  std::map<WorkerId, int> where_;  // of every worker ever started
  std::vector<std::string> violations_;
};

}  // namespace tidepool::sim
