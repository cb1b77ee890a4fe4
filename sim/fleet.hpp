// The world outside the daemon: agents with their processes, and the training that goes on in them. It does what it
// is told, reports what happens, and keeps the books that nobody inside can forge: which process really sits on
// which slot. What it sees and must not be is in violations().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "base/rng.hpp"
#include "base/time.hpp"
#include "sim/cluster_model.hpp"
#include "sim/fault_mix.hpp"
#include "sim/messages.hpp"
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
// The worker's agent has seen no progress for its patience.
struct StuckSeen {
  WorkerId worker;
};
// The program of a seat has saved its state and ended, as it was asked to.
struct ProgramStops {
  WorkerId worker;
};
// All programs of a generation have booted.
struct StepsBegin {
  JobId job;
  std::uint64_t token = 0;
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
using FleetEvent = std::variant<BootDone, ProcessEnds, ReportDue, SwitchDue, ParkDone, StuckSeen, ProgramStops,
                                StepsBegin, NodeReturns, NodeReclaimed, NodeRecovers>;

class Fleet {
 public:
  struct Setup {
    ClusterShape cluster;
    std::vector<NodeKind> kinds;  // by node; empty = all are as `cluster` says
    std::uint64_t seed = 1;
    Duration report_every = Duration::seconds(30);
    std::int64_t report_steps_max = 1'000'000;
    bool compute_times = false;  // reports carry compute times by rank
    std::function<const GroundTruth&(const std::string& job_name)> truth_of;
    std::function<void(Instant, FleetEvent)> later;              // schedules
    std::function<void(Instant, int node, Incoming)> to_daemon;  // hands a message to the node's link
    std::function<void(Instant, JobId, int slots)> held;         // so many more slots (< 0: fewer) have its processes
  };
  explicit Fleet(Setup setup);

  void receive(const Outgoing& message, Instant now);
  void happen(const FleetEvent& event, Instant now);
  void break_something(const Fault& fault, Instant now);

  [[nodiscard]] bool reachable(int node) const { return at(node).reachable; }
  // What the node's agent says first on a new link; repeat() is what it says after that.
  [[nodiscard]] Hello hello(int node) const;
  void repeat(int node, Instant now);

  // No process runs and no report waits for its acknowledgement.
  [[nodiscard]] bool quiet() const;
  // Steps that the workers of this job have really committed.
  [[nodiscard]] std::int64_t steps_done(JobId job) const;
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

 private:
  struct Process {
    JobId job;
    std::vector<int> slots;
    bool ready = false;
    bool ending = false;
    bool ignores_notice = false;
    bool stuck = false;
    double slowdown = 1;
    GenerationNumber member_of = 0;  // newest generation it has stepped in
    // Of a seat (GroundTruth::restarts), whose program comes and goes:
    GenerationNumber waits_for = 0;           // its address in it has been said
    GenerationNumber runs = 0;                // generation of the program that lives; 0 = none
    bool stopping = false;                    // that program has been asked to end
    std::optional<core::ProgramEnded> ended;  // how the program of the newest generation ended by itself
  };
  struct Node {
    bool reachable = true;
    std::optional<bool> on_notice;  // will be reclaimed; none = nobody has ever said so
    RankPace pace;                  // of healthy processes
    std::map<WorkerId, Process> processes;
    std::map<WorkerId, core::WorkerExited> ended;
    std::map<std::uint64_t, core::Fact> unacknowledged;
  };

  void take(const StartWorker& start, Instant now);
  void take(const StopWorker& stop, Instant now);
  void take(const CommitGeneration& commit, Instant now);
  void take(const LaunchPrograms& launch, Instant now);
  void take(const ChangeShares& shares, Instant now);
  void take(const AckReport& ack, Instant now);
  void take(const Submitted& answer, Instant now);

  [[nodiscard]] core::WorkerReady ready(WorkerId worker, const Process& process) const;
  void on(const BootDone& event, Instant now);
  void on(const ProcessEnds& event, Instant now);
  void on(const ReportDue& event, Instant now);
  void on(const SwitchDue& event, Instant now);
  void on(const ParkDone& event, Instant now);
  void on(const StuckSeen& event, Instant now);
  void on(const ProgramStops& event, Instant now);
  void on(const StepsBegin& event, Instant now);
  void on(const NodeReturns& event, Instant now);
  void on(const NodeReclaimed& event, Instant now);
  void on(const NodeRecovers& event, Instant now);

  // Seats (fleet_seats.cpp).
  void end_programs(TrainingRun& run, const CommitGeneration& commit, Instant now);
  void go_on_without_program(WorkerId seat, Instant now);
  void program_ends(WorkerId seat, int exit_code, int signal, Instant now);
  void say_where_it_stands(WorkerId seat, Instant now);
  [[nodiscard]] bool all_run(const TrainingRun& run) const;

  void occupy(const StartWorker& start);
  void note_held(const Process& process, int sign, Instant now) const;
  [[nodiscard]] RankPace usual_pace(int node) const;
  void cut_off(int node, bool crashed, Instant now);
  void halt(TrainingRun& run, Instant now);
  void resume(TrainingRun& run, Instant now);
  void use_newest_shares(TrainingRun& run, Instant now);
  void schedule_report(TrainingRun& run);
  void try_switch(TrainingRun& run, Instant now);
  void finish(TrainingRun& run, Instant now);
  void send_steps(TrainingRun& run, Instant now);
  void park(TrainingRun& run, const CommitGeneration& commit, Instant now);
  void say_joining(const CommitGeneration& commit, Instant now);
  void tell_restored(const TrainingRun& run, const CommitGeneration& commit, Instant now);
  void give_notice(const Fault& fault, Instant now);
  void kill(WorkerId worker, Instant now);
  void strike(const Fault& fault, WorkerId victim, Instant now);
  void dismiss_leavers(const TrainingRun& run, Instant now);

  [[nodiscard]] bool all_present(const std::vector<WorkerId>& members) const;
  [[nodiscard]] std::vector<RankPace> paces(const TrainingRun& run) const;
  [[nodiscard]] Process* find(WorkerId worker);
  [[nodiscard]] const Process* find(WorkerId worker) const;
  [[nodiscard]] Node& at(int node) { return nodes_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] const Node& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  void report(int node, core::Fact fact, Instant now);  // once
  void report_until_heard(int node, core::Fact fact, Instant now);

  Setup setup_;
  Rng rng_;
  std::vector<Node> nodes_;
  std::map<JobId, TrainingRun> runs_;
  std::map<JobId, std::set<std::pair<int, WorkerId>>> processes_of_;  // by node, then worker
  std::map<WorkerId, int> where_;
  std::map<WorkerId, std::tuple<JobId, int, std::vector<int>>> meaning_;  // of every worker ever started
  std::uint64_t next_report_ = 1;
  std::vector<std::string> violations_;
};

}  // namespace tidepool::sim
