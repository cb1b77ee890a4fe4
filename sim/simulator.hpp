// One run: the daemon, whose turn is the real one, the world outside, and links between them that delay messages, break
// and lose what is in flight, all under a virtual clock. The same setup gives the same run, event by event.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/digest.hpp"
#include "base/event_heap.hpp"
#include "base/rng.hpp"
#include "base/time.hpp"
#include "sim/cluster_model.hpp"
#include "sim/fault_mix.hpp"
#include "sim/fleet.hpp"
#include "sim/pool_provider.hpp"
#include "sim/simulated_daemon.hpp"
#include "sim/workload.hpp"

namespace tidepool::sim {

// A user's action during the run.
struct UserAct {
  enum class Kind { kResize, kSuspend, kResume, kCancel, kCordon, kUncordon };
  Duration at;
  Kind kind = Kind::kResize;
  std::size_t job = 0;  // index in the workload; no effect if the daemon has not acknowledged it by then
  int size = 0;         // of a resize; 0 clears the request
  int node = 0;         // of a cordon
};

// A policy file that is active from the start, as in a daemon with `--policy FILE`.
struct ActivePolicyFile {
  core::PolicyFileRef file;
  std::shared_ptr<const core::Policy> policy;  // plans by its answers: EngineParts::file_policy
  // Creates the policy file's caller for one run whose engine has these parts.
  std::function<AskFile(const core::Engine::Parts& parts)> asker;
};

struct SimSetup {
  Workload workload;  // names are unique
  ClusterShape cluster;
  PoolSetup pools;              // in addition to those nodes
  core::TenantTree tenants;     // set before the first job is submitted; empty = jobs of any tenant
  std::vector<NodeKind> kinds;  // one per node of the cluster, or none: all nodes are as in `cluster`
  std::function<core::Engine::Parts()> parts;
  std::optional<ActivePolicyFile> file;  // none = the policies of the parts decide; its policy is among these
  std::uint64_t seed = 1;
  FaultMix faults;
  std::vector<Fault> more_faults;  // in addition to the drawn ones
  std::vector<UserAct> acts;
  CrashPlan crash_plan;
  PlantedBug bug = PlantedBug::kNone;
  Duration report_every = Duration::seconds(30);
  bool compute_times = false;
  std::int64_t state_rate = 0;                      // as in Fleet::Setup
  Duration latency = Duration::millis(2);           // of every message
  Duration latency_jitter;                          // largest additional delay; messages of a link keep their order
  Duration patience = Duration::seconds(10);        // silence after which a node counts as lost
  Duration daemon_restart = Duration::seconds(2);   // from its death to its next start
  Duration limit = Duration::seconds(90 * 86'400);  // the run ends here in any case
  std::size_t records_per_snapshot = 64;
  bool keep_decisions = false;                       // as JSON lines
  std::function<void(const core::Event&)> on_event;  // each event, once it is durable; none = no callback
  std::function<std::int64_t()> stopwatch_ns;
  // Creates another daemon than SimulatedDaemon; the crash plan and the planted bug apply only to that one.
  std::function<std::unique_ptr<Daemon>(const DaemonParts&)> daemon;
};

struct JobResult {
  std::string name;
  std::string application;
  std::string tenant;
  JobId id;
  core::JobState state = core::JobState::kPending;
  double submitted_s = 0;           // when the client sent it
  std::optional<double> started_s;  // first step reported
  std::optional<double> finished_s;
  std::optional<double> deadline_s;
  std::string failure;  // of a job that failed: how its last worker was lost
  double slot_seconds = 0;
  std::int64_t resizes = 0;
  std::int64_t preemptions = 0;
  std::int64_t steps = 0;  // committed by its workers
  std::int64_t steps_wanted = 0;
  // The numbers of slots that it held and since when, in order; empty if the run does not record them.
  struct Held {
    double at_s = 0;
    int slots = 0;
  };
  std::vector<Held> held;
  // Records that it holds this many from now on. Requires: `at_s` is not before the last time.
  void hold(double at_s, int slots);
};

struct SimResult {
  std::vector<JobResult> rows;  // in the workload's order
  std::int64_t decisions = 0;   // with an intent or a new verdict
  std::vector<std::int64_t> decide_ns;
  std::vector<double> gaps;  // (bound - worth) / bound of each decision whose policy reports them
  std::vector<std::string> decision_lines;
  std::uint64_t digest = 0;  // of every decision, in order
  std::uint64_t journal_writes = 0;
  std::int64_t crashes = 0;  // of the daemon
  std::int64_t faults = 0;   // of nodes and workers, that occurred during the run
  bool complete = false;     // every job ended, every slot is free, no process and no idle node is left
  bool cut_off = false;      // stopped by the limit of simulated time
  Duration end;
  // Violations of what must never happen, as sentences; empty in a correct run.
  std::vector<std::string> violations;
  std::vector<std::string> refused;            // facts that the engine refused; for diagnosis
  std::optional<std::vector<NodeLife>> nodes;  // of pools, in the order of their requests; none = there are no pools
  core::ClusterState state;
  std::map<JobId, std::shared_ptr<const core::Job>> jobs;  // acknowledged ones, including ended ones
};

class Simulator {
 public:
  explicit Simulator(SimSetup setup);
  // Once.
  [[nodiscard]] SimResult run();

 private:
  struct Arrives {
    std::size_t job;
  };
  struct ToDaemon {
    int node;
    std::uint64_t link;
    Incoming message;
  };
  struct ToWorld {
    int node;
    std::uint64_t link;
    api::DaemonToAgent message;
  };
  struct FaultStrikes {
    std::size_t fault;
  };
  struct UserActs {
    std::size_t act;
  };
  struct DaemonStarts {};
  struct DaemonWakes {};
  struct PatienceEnds {
    int node;
    std::uint64_t link;
  };
  using Event = std::variant<Arrives, ToDaemon, ToWorld, FleetEvent, FaultStrikes, UserActs, DaemonStarts, DaemonWakes,
                             PatienceEnds, PoolEvent>;

  // One connection between agent and daemon. A message with another number than the present one was lost with its link.
  struct Link {
    bool up = false;
    bool wanted = false;   // its agent waits for it
    bool greeted = false;  // the daemon has answered; before that it cannot send on the link
    std::uint64_t number = 0;
    Instant last_up;    // arrival of the newest message to the daemon
    Instant last_down;  // and to the world
  };

  void handle(Event event);
  void on(const Arrives& event);
  void on(ToDaemon event);
  void on(ToWorld event);
  void on(const FleetEvent& event);
  void on(const FaultStrikes& event);
  void on(const UserActs& event);
  void on(const DaemonStarts& event);
  void on(const DaemonWakes& event);
  void on(const PatienceEnds& event);
  void on(const PoolEvent& event);

  void submit(std::size_t job);
  void feed(const std::vector<Incoming>& batch);
  void dispatch(std::vector<Outgoing> messages);
  void want_link(int node);
  void connect_if_wanted(int node);
  void disconnect(int node);
  void follow_reachability();
  void lose_link_unless_reachable(int node);
  // Nodes of pools (simulator_pools.cpp).
  [[nodiscard]] std::optional<PoolProvider> make_provider();
  void begin_pools();
  void set_tenants();
  void activate_file();
  int switch_on(const std::string& name, const NodeKind& kind);
  [[nodiscard]] bool is_superseded(int node) const;
  void schedule_wake();
  void send_up(int node, Incoming message);
  [[nodiscard]] Instant arrival(int node, Instant& last) const;
  [[nodiscard]] Link& link(int node);
  void note_decision(const core::Decision& decision);
  void note_held(JobId job, int slots, Instant now);
  void audit_recovery();
  [[nodiscard]] bool all_done() const;
  [[nodiscard]] SimResult result();
  [[nodiscard]] std::unique_ptr<Daemon> make_daemon();
  [[nodiscard]] Fleet::Setup fleet_setup();

  SimSetup setup_;
  EventHeap<Event> heap_;
  Instant now_;
  std::unique_ptr<Daemon> daemon_;
  Fleet fleet_;
  std::optional<PoolProvider> provider_;
  std::vector<Fault> faults_;
  std::vector<Link> links_;  // one per node
  Link clients_;
  std::map<std::string, int> newest_of_name_;  // of nodes of pools, whose names are used again
  std::map<std::string, std::size_t> job_of_name_;
  std::set<std::size_t> arrived_;
  std::map<std::string, JobId> acknowledged_;  // by name; acknowledged submissions
  std::map<JobId, JobResult> counts_;          // only the counters are used
  std::optional<Instant> wake_at_;
  std::set<DecisionId> decided_;
  Digest digest_;
  std::int64_t crashes_ = 0;
  std::int64_t faults_struck_ = 0;
  std::vector<std::string> decision_lines_;
  std::vector<std::string> violations_;
  bool cut_off_ = false;
};

}  // namespace tidepool::sim
