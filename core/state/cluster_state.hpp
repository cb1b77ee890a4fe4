// The facts as the engine holds them: nodes with their slots, jobs with their workers and what has
// been measured. Plain data; only Engine::step and Engine::accept change it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/id_table.hpp"
#include "base/ids.hpp"
#include "base/money.hpp"
#include "base/shared_value.hpp"
#include "base/time.hpp"
#include "core/money/pool_ledger.hpp"
#include "core/money/prices.hpp"
#include "core/state/device_speed.hpp"
#include "core/state/job.hpp"
#include "core/state/leave_notice.hpp"
#include "core/state/maintenance.hpp"
#include "core/state/node_faults.hpp"
#include "core/state/node_pools.hpp"
#include "core/state/policy_deployment.hpp"
#include "core/state/reason.hpp"
#include "core/state/tenants.hpp"

namespace tidepool::core {

enum class WorkerPhase {
  kStarting,  // journaled; the agent starts or has started it
  kReady,     // waits for a generation
  kMember,    // in the committed generation
  kLeaving,   // told to leave at the switch, or to stop
};
[[nodiscard]] const char* to_text(WorkerPhase phase);

struct StuckNotice {
  std::int64_t step = 0;
  Duration lasted;
};

// Its program has ended and its slots are not free, since processes of it cannot be ended or a GPU's memory is not
// back. They are quarantined: no job gets them until the agent has proved them free, or an operator says so.
struct SlotHold {
  Instant since;
  std::string why;
};

// How fast a worker is beside the others of its job; straggler_facts.hpp brings it up to date.
struct StragglerTrack {
  double score = 1;             // its speed as a share of the others'
  double bar = 0;               // a straggler is slower than this
  std::int64_t steps = 0;       // steps that it has been judged by
  std::int64_t slow_steps = 0;  // for how many of the newest it has been a straggler; 0 = it is none
  double waited_s = 0;          // slot-seconds that the others have waited for it in these
  bool told = false;            // an event has named it since
  bool probed = false;          // its node has been asked for a probe since
  std::string detector;         // whose findings these are
  // Mean compute time of a step at the present shares, and over how many steps. Both start anew when the shares
  // change, and when it begins or ceases to be slow.
  double busy_us = 0;
  std::int64_t busy_steps = 0;
};

struct Worker {
  WorkerId id;
  JobId job;
  NodeId node;
  std::vector<int> slots;
  WorkerPhase phase = WorkerPhase::kStarting;
  Instant started_at;
  std::optional<Instant> stop_due;    // it should have left by itself by then; after that it is stopped
  std::optional<Instant> kill_at;     // set once a stop has been accepted: when force follows notice
  std::optional<Reason> stopped_for;  // why, with kill_at
  std::optional<LeaveNotice> notice;  // it, or its program, has been told to end
  GenerationNumber joining = 0;       // newest generation that it has said it listens in
  std::optional<StuckNotice> stuck;   // its agent saw no progress
  GenerationNumber launched = 0;      // newest generation that its program was started in (ResizeMode::kRestart)
  bool program_ended = false;         // the program of that generation has ended well
  bool node_lost = false;             // its node is away
  bool boot_unseen = false;           // when it began to boot is not known
  std::optional<SlotHold> held;       // none: its program lives, or nothing is known of its end
  StragglerTrack track;
  WorkerId replaced;   // the straggler whose place it took; none = no straggler's
  NodeId replaced_on;  // where that one ran

  // Not counted on any more; its slots are its own still.
  [[nodiscard]] bool is_gone() const { return node_lost || held.has_value(); }
};

enum class NodeState { kUp, kLost };

// What its agent's probe has measured.
struct NodeHealth {
  std::vector<DeviceSpeed> devices;  // never empty
  Instant at;
  double best_gflops = 0;  // of its slowest device, the best it has ever shown; likewise below
  double best_copy_gbps = 0;
};

// The machine's provider takes it back, as the node's agent has been told.
struct NodeReclaim {
  Instant at;
};

// What the maintenance windows that are due ask of it together.
struct NodeMaintenance {
  WindowNumber window = 0;  // the one that begins first
  Instant begins;
  Instant ends;  // the last of them
  bool operator==(const NodeMaintenance&) const = default;
};

// It is to be empty by `deadline`: it gets no new workers, and those that it has move away before that. For one or more
// of three causes, which come and go by themselves (drain_facts.hpp).
struct NodeDrain {
  Instant since;
  Instant deadline = {};              // the earliest of the causes
  std::string reason = {};            // as its operator, or its pool, gave it; may be empty
  std::optional<Instant> asked = {};  // deadline that one of these set
  std::optional<NodeReclaim> reclaim = {};
  std::optional<NodeMaintenance> maintenance = {};

  // The window that alone keeps the drain going.
  [[nodiscard]] std::optional<WindowNumber> only_window() const {
    return maintenance && !asked && !reclaim ? std::optional(maintenance->window) : std::nullopt;
  }
};

using Labels = std::map<std::string, std::string>;
// None: taken away from the node, whatever it joined with.
using LabelChanges = std::map<std::string, std::optional<std::string>>;

struct Node {
  NodeId id;
  std::string name;
  NodeState state = NodeState::kUp;
  bool cordoned = false;
  std::optional<NodeDrain> drain;  // none: it is not being emptied
  std::string slot_type;
  Money price_per_slot_hour;         // now (prices.hpp)
  std::vector<WorkerId> owners;      // one per slot; none = free
  std::optional<NodeHealth> health;  // none: never measured
  std::string data_address;          // at which its workers meet those of other nodes; empty = its agent told none
  // What it keeps of its jobs (user, view, bounds), by the protocol's names; none: its agent did not tell.
  std::optional<std::vector<std::string>> isolation;
  // Bytes that a slot's share of its memory is; 0: it bounds none, so no job finds too little there; none: not told.
  std::optional<std::int64_t> memory_per_slot;
  Labels labels_given;               // by the node token with which it joined
  LabelChanges labels_set;           // by operators since, over these (node_labels.hpp)
  bool moves_states = false;         // its agent brings saved states and hands them over
  bool gives_notice = false;         // its agent tells programs that they are to end, and brings their answers
  std::optional<NodeFaults> faults;  // none: it has had none lately, or they are not counted

  // Keeps the workers that it has for now, and gets no new ones.
  [[nodiscard]] bool is_closed() const { return cordoned || drain.has_value() || is_unsteady(); }
  [[nodiscard]] bool is_unsteady() const { return faults && faults->until; }
  [[nodiscard]] bool takes_workers() const { return state == NodeState::kUp && !is_closed(); }
  [[nodiscard]] int slots_held() const;  // by workers that have not exited
  [[nodiscard]] int slots_free() const { return static_cast<int>(owners.size()) - slots_held(); }
  // That a plan hands out: all, or, of one that gets no new workers, those that are held. Requires: it is up.
  [[nodiscard]] int slots_to_plan() const { return is_closed() ? slots_held() : static_cast<int>(owners.size()); }
  [[nodiscard]] bool is_drained() const;  // is being drained, and no worker is left
};

// What the starts and changes of a job that has ended took on average, in milliseconds; none: it was not measured.
struct EndedCosts {
  std::optional<double> boot_ms;
  std::optional<double> start_ms;
  std::optional<double> grow_ms;
  std::optional<double> shrink_ms;
  std::optional<double> replace_ms;
  std::optional<double> restart_ms;
};

// What is remembered of a job that has ended and left the state (ended_job.hpp).
struct EndedJob {
  JobId id;
  JobState state = JobState::kSucceeded;
  Instant finished_at;
  Duration slot_time;
  std::int64_t samples_done = 0;
  std::int64_t global_batch = 1;  // as declared
  int gpus_per_worker = 1;
  std::uint64_t kind = 0;           // job_kind.hpp; 0 = it named no program, or an earlier version kept none
  std::map<int, SizeRecord> sizes;  // on the type of slot that it ran on last
  std::string slot_type;            // empty = not known
  std::map<std::string, std::map<int, SizeRecord>> on_other_types;
  std::string tenant = {};  // empty = not known
  EndedCosts costs = {};
};

// How many have left, ever.
struct EndedCounts {
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::int64_t cancelled = 0;
};

// The newest plan for the whole cluster, beside what it gives each job.
struct ClusterPlan {
  std::string policy;  // that made it; empty = none was made
  Instant made_at;
  std::uint64_t nodes = 0;      // digest of the nodes that it counted with
  Mark mark;                    // the policy's own, on the cluster
  std::optional<Instant> wake;  // the policy asked to plan again then
  std::string error;            // why its newest answer was dropped; empty = it was not
  // Of leaves that have jobs, where tenants share the pool; and up to when their loans were counted.
  TenantPlans tenants;
  std::optional<Instant> loans_counted;
};

// All of it. Copies share what they hold until one of them changes it (copy on write), so that a picture for readers
// costs a pointer for every 16 jobs, workers, nodes or tenants.
struct ClusterState {
  Instant now;  // time of the newest fact
  SharedIdTable<NodeId, Node> nodes;
  SharedIdTable<WorkerId, Worker> workers;  // those that hold slots
  // Those that have not ended, and those whose workers have still to go.
  SharedIdTable<JobId, std::shared_ptr<const Job>> jobs;
  SharedIdTable<JobId, std::shared_ptr<const EndedJob>> ended;  // the newest of the others that say something
  EndedCounts ended_counts;
  std::uint64_t next_job = 1;
  std::uint64_t next_node = 1;
  std::uint64_t next_worker = 1;
  std::uint64_t next_decision = 1;
  EventSeq next_event = 1;
  ClusterPlan plan;             // of a policy for the whole cluster
  PolicyDeployment deployment;  // policy files
  NodePools pools;              // nodes that come and go by a provider
  SharedValue<TenantsByName> tenants;
  TenantUses tenant_uses;
  TenantJobs tenant_jobs;  // that have not ended; follows from `jobs` and `tenants` (tenant_jobs.hpp)
  BudgetAccounts budgets;
  PoolLedger pool_ledger;             // of slots that no worker counts for
  std::vector<Instant> preempted_at;  // newest preemptions for other jobs, as many as the pool's limit is about
  NodeDamping damping;                // off unless the daemon has told it
  // Judges the jobs that ask for no detector by name. Empty, as in journals of earlier versions: the engine's usual
  // one.
  std::string straggler_detector;
  Maintenance maintenance;
  SharedValue<Prices> prices;
  std::int64_t utc_us_at_zero = 0;  // the time line's 0, in microseconds since 1970

  // Null: it has ended and left, or there was none.
  [[nodiscard]] const Job* find_job(JobId id) const {
    const auto found = jobs.find(id);
    return found == jobs.end() ? nullptr : found->second.get();
  }
  [[nodiscard]] bool has_ended(JobId id) const { return id && id.number() < next_job && !jobs.contains(id); }
  [[nodiscard]] const EndedJob* find_ended(JobId id) const {
    const auto found = ended.find(id);
    return found == ended.end() ? nullptr : found->second.get();
  }
  [[nodiscard]] const Node* find_node(NodeId id) const {
    const auto found = nodes.find(id);
    return found == nodes.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const Worker* find_worker(WorkerId id) const {
    const auto found = workers.find(id);
    return found == workers.end() ? nullptr : &found->second;
  }
  // Copies the job if a reader shares it. Requires: the job exists.
  [[nodiscard]] Job& mutable_job(JobId id);

  // Its pool has given it back, or its provider has taken it, and its agent is lost: it is there only for what refers
  // to it, and is shown nowhere.
  [[nodiscard]] bool has_gone(const Node& node) const {
    return node.state == NodeState::kLost && pools.has_gone(node.id);
  }
  [[nodiscard]] int slots_total() const;  // of nodes that are up
  [[nodiscard]] int slots_free() const;   // of nodes that are up and take new workers
};

// Of the workers that a node's agent says it runs, those that the state does not place there: they are to
// be killed, however they were started.
[[nodiscard]] std::vector<WorkerId> unknown_workers(const ClusterState& state, NodeId node,
                                                    const std::vector<WorkerId>& running);

}  // namespace tidepool::core
