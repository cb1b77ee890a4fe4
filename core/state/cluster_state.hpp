// The facts as the engine stores them: nodes with their slots, jobs with their workers, and measurements. Plain data;
// only Engine::step and Engine::accept change it.
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
  kLeaving,   // must leave at the switch, or stop
};
[[nodiscard]] const char* to_text(WorkerPhase phase);

struct StuckNotice {
  std::int64_t step = 0;
  Duration lasted;
};

// The worker's program has ended, but its slots are not free: some of its processes cannot be ended, or a GPU's memory
// has not been released. The slots are quarantined: no job gets them until the agent proves them free or an operator
// releases them.
struct SlotHold {
  Instant since;
  std::string why;
};

// The speed of a worker compared with the other workers of its job; straggler_facts.hpp updates it.
struct StragglerTrack {
  double score = 1;             // its speed as a share of the others' speed
  double bar = 0;               // a worker with a lower score is a straggler
  std::int64_t steps = 0;       // steps on which the score is based
  std::int64_t slow_steps = 0;  // how many of the newest steps in a row it was a straggler; 0 = it is not one
  double waited_s = 0;          // slot-seconds that the others waited for it in these steps
  bool told = false;            // an event has named it since it became slow
  bool probed = false;          // a probe of its node was requested since then
  std::string detector;         // the detector that made these findings
  // Mean compute time of a step at the present shares, and the number of steps it covers. Both restart when the shares
  // change, and when the worker becomes slow or stops being slow.
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
  std::optional<Instant> stop_due;    // it should have left on its own by then; after that it is stopped
  std::optional<Instant> kill_at;     // set once a stop has been accepted: when the worker is killed after the notice
  std::optional<Reason> stopped_for;  // the reason, set with kill_at
  std::optional<LeaveNotice> notice;  // the worker, or only its program, was asked to end
  GenerationNumber joining = 0;       // newest generation in which it has reported where it listens
  std::optional<StuckNotice> stuck;   // its agent sees no progress
  GenerationNumber launched = 0;      // newest generation in which its program was started (ResizeMode::kRestart)
  bool program_ended = false;         // the program of that generation has ended without an error
  bool node_lost = false;             // its node is lost
  bool boot_unseen = false;           // the time at which it began to boot is unknown
  std::optional<SlotHold> held;       // none: its program runs, or nothing is known of its end
  StragglerTrack track;
  WorkerId replaced;   // the straggler whose place it took; none = it replaced no straggler
  NodeId replaced_on;  // where that straggler ran

  // The worker no longer counts as available, but still owns its slots.
  [[nodiscard]] bool is_gone() const { return node_lost || held.has_value(); }
};

enum class NodeState { kUp, kLost };

// The measurements of its agent's probe.
struct NodeHealth {
  std::vector<DeviceSpeed> devices;  // never empty
  Instant at;
  double best_gflops = 0;  // of its slowest device, the best ever measured; the fields below likewise
  double best_copy_gbps = 0;
};

// The provider reclaims the machine, as it announced to the node's agent.
struct NodeReclaim {
  Instant at;
};

// The combined demand of all maintenance windows that are due for the node.
struct NodeMaintenance {
  WindowNumber window = 0;  // the window that begins first
  Instant begins;
  Instant ends;  // the latest end of these windows
  bool operator==(const NodeMaintenance&) const = default;
};

// The node must be empty by `deadline`: it gets no new workers, and its present workers move away before then. There
// are three possible causes, which start and end independently (drain_facts.hpp).
struct NodeDrain {
  Instant since;
  Instant deadline = {};              // the earliest of the causes' deadlines
  std::string reason = {};            // as given by the operator or the pool; may be empty
  std::optional<Instant> asked = {};  // the deadline set by the operator or the pool
  std::optional<NodeReclaim> reclaim = {};
  std::optional<NodeMaintenance> maintenance = {};

  // The window that is the only cause of the drain, if there is one.
  [[nodiscard]] std::optional<WindowNumber> only_window() const {
    return maintenance && !asked && !reclaim ? std::optional(maintenance->window) : std::nullopt;
  }
};

using Labels = std::map<std::string, std::string>;
// A value of none removes the label from the node, even if it came with the node's token.
using LabelChanges = std::map<std::string, std::optional<std::string>>;

struct Node {
  NodeId id;
  std::string name;
  NodeState state = NodeState::kUp;
  bool cordoned = false;
  std::optional<NodeDrain> drain;  // none: it is not being drained
  std::string slot_type;
  Money price_per_slot_hour;         // now (prices.hpp)
  std::vector<WorkerId> owners;      // one per slot; none = free
  std::optional<NodeHealth> health;  // none: never measured
  std::string data_address;          // where its workers accept workers of other nodes; empty = its agent reported none
  // The isolation that it enforces on jobs (user, view, bounds), by the protocol's names; none: its agent reported
  // nothing.
  std::optional<std::vector<std::string>> isolation;
  // Memory per slot in bytes; 0: the node limits none, so no job finds too little there; none: not reported.
  std::optional<std::int64_t> memory_per_slot;
  Labels labels_given;               // from the node token with which it joined
  LabelChanges labels_set;           // set later by operators; these override labels_given (node_labels.hpp)
  bool moves_states = false;         // its agent fetches saved states and serves them to other agents
  bool gives_notice = false;         // its agent notifies programs that they must end, and returns their answers
  std::optional<NodeFaults> faults;  // none: no recent faults, or faults are not counted

  // The node keeps its present workers and gets no new ones.
  [[nodiscard]] bool is_closed() const { return cordoned || drain.has_value() || is_unsteady(); }
  [[nodiscard]] bool is_unsteady() const { return faults && faults->until; }
  [[nodiscard]] bool takes_workers() const { return state == NodeState::kUp && !is_closed(); }
  [[nodiscard]] int slots_held() const;  // by workers that have not exited
  [[nodiscard]] int slots_free() const { return static_cast<int>(owners.size()) - slots_held(); }
  // Slots that a plan may use: all of them, or only the held ones if the node gets no new workers. Requires: it is up.
  [[nodiscard]] int slots_to_plan() const { return is_closed() ? slots_held() : static_cast<int>(owners.size()); }
  [[nodiscard]] bool is_drained() const;  // is being drained, and no worker is left
};

// Mean cost of the starts and changes of an ended job, in milliseconds; none: not measured.
struct EndedCosts {
  std::optional<double> boot_ms;
  std::optional<double> start_ms;
  std::optional<double> grow_ms;
  std::optional<double> shrink_ms;
  std::optional<double> replace_ms;
  std::optional<double> restart_ms;
};

// What is kept of a job that has ended and left the state (ended_job.hpp).
struct EndedJob {
  JobId id;
  JobState state = JobState::kSucceeded;
  Instant finished_at;
  Duration slot_time;
  std::int64_t samples_done = 0;
  std::int64_t global_batch = 1;  // as declared
  int gpus_per_worker = 1;
  std::uint64_t kind = 0;           // job_kind.hpp; 0 = it named no program, or an earlier version stored none
  std::map<int, SizeRecord> sizes;  // on the slot type on which it last ran
  std::string slot_type;            // empty = unknown
  std::map<std::string, std::map<int, SizeRecord>> on_other_types;
  std::string tenant = {};  // empty = unknown
  EndedCosts costs = {};
};

// Counts of all jobs that have ever left the state.
struct EndedCounts {
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::int64_t cancelled = 0;
};

// The newest plan for the whole cluster, apart from the targets of the jobs.
struct ClusterPlan {
  std::string policy;  // the policy that made it; empty = no plan was made
  Instant made_at;
  std::uint64_t nodes = 0;      // digest of the nodes that the plan took into account
  Mark mark;                    // the policy's own mark on the cluster
  std::optional<Instant> wake;  // when the policy asked to plan again
  std::string error;            // why the policy's newest answer was dropped; empty = it was not dropped
  // Plans of leaf tenants that have jobs, where tenants share the pool; and the time up to which their loans are
  // counted.
  TenantPlans tenants;
  std::optional<Instant> loans_counted;
};

// The whole state. Copies share their contents until one copy changes (copy on write), so a snapshot for readers costs
// one pointer per 16 jobs, workers, nodes or tenants.
struct ClusterState {
  Instant now;  // time of the newest fact
  SharedIdTable<NodeId, Node> nodes;
  SharedIdTable<WorkerId, Worker> workers;  // those that hold slots
  // Jobs that have not ended, and ended jobs whose workers have not all exited.
  SharedIdTable<JobId, std::shared_ptr<const Job>> jobs;
  SharedIdTable<JobId, std::shared_ptr<const EndedJob>> ended;  // newest ones that measured something or succeeded
  EndedCounts ended_counts;
  std::uint64_t next_job = 1;
  std::uint64_t next_node = 1;
  std::uint64_t next_worker = 1;
  std::uint64_t next_decision = 1;
  EventSeq next_event = 1;
  ClusterPlan plan;             // of a policy for the whole cluster
  PolicyDeployment deployment;  // policy files
  NodePools pools;              // nodes that a provider creates and removes
  SharedValue<TenantsByName> tenants;
  TenantUses tenant_uses;
  TenantJobs tenant_jobs;  // jobs that have not ended; derived from `jobs` and `tenants` (tenant_jobs.hpp)
  BudgetAccounts budgets;
  PoolLedger pool_ledger;             // of slots that are not charged to a worker
  std::vector<Instant> preempted_at;  // newest preemptions for other jobs, as many as the pool's limit needs
  NodeDamping damping;                // off unless the daemon has configured it
  // The detector for jobs that name none. Empty, as in journals of earlier versions: the engine's default detector.
  std::string straggler_detector;
  Maintenance maintenance;
  SharedValue<Prices> prices;
  std::int64_t utc_us_at_zero = 0;  // UTC time at 0 of the time line, in microseconds since 1970

  // Null: the job has ended and left the state, or never existed.
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

  // The pool has returned the node, or the provider has reclaimed it, and its agent is lost. The node remains only
  // because other records refer to it, and is not shown anywhere.
  [[nodiscard]] bool has_gone(const Node& node) const {
    return node.state == NodeState::kLost && pools.has_gone(node.id);
  }
  [[nodiscard]] int slots_total() const;  // of nodes that are up
  [[nodiscard]] int slots_free() const;   // of nodes that are up and accept new workers
};

// The workers that a node's agent reports as running but that the state does not place there: they must be killed,
// however they were started.
[[nodiscard]] std::vector<WorkerId> unknown_workers(const ClusterState& state, NodeId node,
                                                    const std::vector<WorkerId>& running);

}  // namespace tidepool::core
