// Facts: everything that happens, in the form in which the engine learns it. A fact is journaled before anything
// follows from it, and replaying the facts in order rebuilds the state exactly. Closed variant: each case is one plain
// struct; code that handles facts handles all of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "base/money.hpp"
#include "base/price_list.hpp"
#include "base/time.hpp"
#include "core/state/device_speed.hpp"
#include "core/state/job_spec.hpp"
#include "core/state/leave_notice.hpp"
#include "core/state/maintenance.hpp"
#include "core/state/node_faults.hpp"
#include "core/state/node_pools.hpp"
#include "core/state/policy_deployment.hpp"
#include "core/state/tenants.hpp"
#include "core/state/unused_state.hpp"

namespace tidepool::core {

// --- what users request --------------------------------------------------------------------------

// The id must be Engine::next_job_id(); the spec is already checked and completed.
struct JobSubmitted {
  JobId job;
  JobSpec spec;
};
struct JobCancelRequested {
  JobId job;
};
// A request, not an order: pins the job's size until size = 0 clears the pin.
struct JobResizeRequested {
  JobId job;
  int size = 0;  // 0, or an allowed size of the job
};
struct JobSuspendRequested {
  JobId job;
};
struct JobResumeRequested {
  JobId job;
};
// The members must take a checkpoint soon.
struct JobCheckpointRequested {
  JobId job;
};
// The whole new specification. The settings with which its workers were started stay as they were (job_facts.cpp), and
// the new bounds include the present size.
struct JobChanged {
  JobId job;
  JobSpec spec;
};

// --- what agents report -------------------------------------------------------------------------

// An agent has connected (for the first time or again). `running` is its inventory: workers that it does not list are
// dead, and workers that the state does not know must be killed.
struct NodeJoined {
  NodeId node;            // Engine::node_id_for(name), or Engine::next_node_id() for a new name
  std::string name;       // unique among nodes
  int slots = 0;          // >= 1
  std::string slot_type;  // "cpu", "NVIDIA H200", ...
  Money price_per_slot_hour;
  std::vector<WorkerId> running;
  std::string data_address{};  // address at which its workers connect to workers of other nodes; empty = not reported
  std::optional<std::vector<std::string>>
      isolation{};  // isolation that it enforces on jobs, by the protocol's names; none: not reported
  std::map<std::string, std::string> labels{};  // from the node token with which it was admitted
  bool moves_states = false;                    // its agent fetches saved states and serves them to other agents
  bool gives_notice = false;                    // its agent notifies programs that they must end
  // Memory per slot in bytes; 0: the node limits none; none: not reported.
  std::optional<std::int64_t> memory_per_slot{};
};
// The agent has been disconnected for longer than the daemon tolerates. Its slots keep their owners (a slot leaves an
// owner only on proof of death), but its workers no longer count as available.
struct NodeLost {
  NodeId node;
  std::string why;
  bool given_back = false;  // the pool wanted it removed (NodePools::gives_back), so no event reports the loss
  // The agent ends and stops its workers, whose exits follow: this is no fault of the node and no loss for the jobs.
  bool stopped = false;
};
// The agent has measured its devices, when it joined or later. Replaces the earlier measurement.
struct NodeProbed {
  NodeId node;
  std::vector<DeviceSpeed> devices;
};
struct NodeCordonChanged {
  NodeId node;
  bool cordoned = false;
};
// An operator sets labels of the node, and removes those whose value is none. Other labels stay.
struct NodeLabelled {
  NodeId node;
  std::map<std::string, std::optional<std::string>> labels;
};
// The node must be empty `within` this time from now: it gets no new workers, and its workers move away before then. If
// the node is already being drained, the fact changes deadline and reason.
struct NodeDrainRequested {
  NodeId node;
  Duration within;  // >= 0
  std::string reason;
};
// Ends the drain: its workers may stay, and new ones may be placed there.
struct NodeDrainCancelled {
  NodeId node;
};
// The node's agent was notified that the machine will be reclaimed `within` this time from now: the node is drained
// until then. A repeated notice can only bring the end forward. None: the notice is withdrawn, and the drain that it
// caused ends.
struct NodeReclaimNoticed {
  NodeId node;
  std::optional<Duration> within;  // >= 0
};
// How faults of nodes count from now on.
struct NodeDampingConfigured {
  NodeDamping damping;
};
// From now on this straggler detector judges the jobs that name none.
struct DetectorConfigured {
  std::string name;
};
// The faults of the node no longer count.
struct NodeFaultsCleared {
  NodeId node;
};
// The node will not return: it leaves the state. Only for a lost node; nodes of pools are removed without a request of
// a user (node_removal.hpp).
struct NodeRemoved {
  NodeId node;
};
// The window's number is the next one (Maintenance::next).
struct MaintenanceAdded {
  MaintenanceWindow window;
};
// Its nodes accept workers again, as far as this window is concerned.
struct MaintenanceRemoved {
  WindowNumber window = 0;
};
// The worker has booted, loaded its data and built its model; it waits for a generation. At most one of the two lengths
// of the whole training is given, by a program that knows it; a program that is restarted at each size reports it while
// it runs, or later.
struct WorkerReady {
  WorkerId worker;
  std::optional<std::int64_t> work_steps = std::nullopt;
  std::optional<std::int64_t> work_samples = std::nullopt;
};
// The worker has reported where it listens in `generation`; reported once per generation.
struct WorkerJoining {
  WorkerId worker;
  GenerationNumber generation = 0;
};
// The agent sees no progress: the worker computes one step for far longer than its steps take, or sends no pulse.
struct WorkerStuck {
  WorkerId worker;
  std::int64_t step = 0;
  std::string phase;  // "waiting", "computing", "reducing", "switching"
  Duration lasted;
};
// The agent has started the worker's program in `generation` (ResizeMode::kRestart).
struct ProgramStarted {
  WorkerId worker;
  GenerationNumber generation = 0;
};
// That program has ended without a request, or a program of an older generation was killed because it did not end when
// it was asked to. The worker keeps its slots.
struct ProgramEnded {
  WorkerId worker;
  GenerationNumber generation = 0;
  int exit_code = -1;  // -1 if ended by a signal or unknown
  int signal = 0;      // 0 if it exited on its own
  std::string detail;  // last line of its output, or why it could not start
};
// The program of a worker that was asked to leave answers.
struct NoticeAnswered {
  WorkerId worker;
  DecisionId decision;      // the decision of the notice
  std::int64_t number = 1;  // counts the answers to one notice
  NoticeAnswer answer = NoticeAnswer::kSaving;
  Duration needs;  // kUntil: from now
};
// The worker's program has ended, but its agent has not been able to prove its slots free: they are quarantined until
// WorkerExited.
struct SlotsHeld {
  WorkerId worker;
  Duration lasted;     // since the program ended
  std::string why;     // what holds them, such as "memory of GPU-1 is still held"
  int exit_code = -1;  // this and the following fields as in WorkerExited
  int signal = 0;
  std::string detail;
};
// An operator states that all quarantined slots of the node are free.
struct SlotsReleased {
  NodeId node;
};
// Proof of death: the agent has reaped the process. Frees its slots.
struct WorkerExited {
  WorkerId worker;
  int exit_code = -1;  // -1 if ended by a signal or unknown
  int signal = 0;      // 0 if it exited on its own
  std::string detail;  // last line of its error output, or why it could not start
  // It exited with 0 and never sent a message, although programs of live jobs do so before they train: it does not
  // support Tidepool and would do the same again. Not recorded in rows of earlier versions.
  bool never_joined = false;
  // It was a member, and its job had reported no step since its start. Not recorded in rows of earlier versions.
  bool never_stepped = false;
  // The node started nothing: no program of the worker has run. In rows of earlier versions this is true of every
  // worker that ended with neither exit code nor signal.
  bool nothing_started = false;
};

// --- what jobs report (rank 0, through its agent) -----------------------------------------------

// The members of `generation` now step together.
struct GenerationSwitched {
  JobId job;
  GenerationNumber generation = 0;
  std::int64_t switch_step = 0;  // first step of the new generation
  double stall_ms = 0;  // time from the last step before to the first step after the switch, beyond one normal step
  double build_ms = 0;  // time to build the communicator
  std::int64_t steps_redone = 0;
  std::int64_t samples_repeated = 0;
  std::int64_t bytes_moved = 0;  // state sent to joining workers
  // A saved state newer than the step from which a first generation started. Facts of earlier versions have none.
  std::optional<UnusedState> unused{};
};
// A run of consecutive committed steps at one generation.
struct StepsMeasured {
  JobId job;
  GenerationNumber generation = 0;
  std::int64_t last_step = 0;  // number of the last of them; steps count from 1
  std::int64_t steps = 0;      // how many, >= 1
  Duration elapsed;            // wall time of them all, > 0
  std::int64_t samples = 0;    // samples they used, over all ranks
  double loss = 0;             // of the last step
  std::int64_t epoch = 0;
  // Compute time before the allreduce in microseconds, step-major: [step][rank], steps x ranks entries; empty if not
  // measured.
  std::vector<std::int64_t> compute_us;
  // Samples of all committed steps up to this report, as the workers count them; none = not reported. Makes up for
  // earlier reports that were lost.
  std::optional<std::int64_t> samples_total;
  std::int64_t global_batch = 0;      // samples a step at this generation; 0 = not reported
  std::optional<double> noise_scale;  // of the gradient, in samples, >= 0; none while unknown
  std::int64_t shares = 0;            // number of the share table used in all these steps; 0 = even shares
};
// The members now step by share table `number` of this generation.
struct SharesChanged {
  JobId job;
  GenerationNumber generation = 0;
  std::int64_t number = 0;
  std::int64_t step = 0;  // first step of the new shares
  double stall_ms = 0;    // by how much that step took longer than the next one
};
struct DataEpochAudited {
  JobId job;
  std::int64_t epoch = 0;
  std::int64_t expected = 0;  // samples in the data
  std::int64_t used = 0;      // samples committed in the epoch
  bool checksum_ok = false;
};
// The program has reached its end; the workers exit on their own.
struct TrainingFinished {
  JobId job;
  std::int64_t last_step = 0;
  double loss = 0;
  std::optional<std::int64_t> samples_total;  // as in StepsMeasured
};
// A worker has written the job's state for a later start and exits next. After a failure every survivor does so; their
// states may differ by a step.
struct StateParked {
  JobId job;
  WorkerId worker;
  GenerationNumber generation = 0;
  std::int64_t step = 0;  // committed steps in it
  std::int64_t bytes = 0;
  double write_ms = 0;
};
struct CheckpointTaken {
  JobId job;
  WorkerId worker;
  GenerationNumber generation = 0;
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  double write_ms = 0;
  std::string path;
};
// A checkpoint was due but was not written to disk.
struct CheckpointFailed {
  JobId job;
  WorkerId worker;
  GenerationNumber generation = 0;
  std::int64_t step = 0;
  std::string detail;
};
// The first generation since a start continues from a parked state or a checkpoint.
struct StateRestored {
  JobId job;
  GenerationNumber generation = 0;
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  std::string path;
};
// The saved state for which the job's first workers wait has arrived completely on their node.
struct StateBrought {
  JobId job;
  NodeId node;  // where it is now
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  Duration took;
};
// The state has not arrived and is no longer awaited: the workers start without it.
struct StateLeft {
  JobId job;
  NodeId node;  // to which it should have been brought
  std::int64_t step = 0;
  std::string why;
};
// --- policy files -------------------------------------------------------------------------------

// From now on this version decides; none = the daemon's own policy, and there is no version left for a rollback.
struct PolicyActivated {
  std::optional<PolicyFileRef> file;
};
// The version before the active one decides again.
struct PolicyRolledBack {
  std::string why;
};
// The file is evaluated in addition to the active policy, and changes nothing; none = no file is.
struct PolicyShadowed {
  std::optional<PolicyFileRef> file;
};
// The answer of the active policy file, or the reason why it gave none.
struct PolicyAnswered {
  PolicyRound round;
};
// --- pools of nodes: what their configuration says, and what their providers report --------------

// All pools that exist from now on; those that are missing are retired.
struct PoolsConfigured {
  double spot_share = 1;  // 0 to 1
  std::vector<PoolSpec> pools;
};
// The provider has the node; a repeated call for the same request gives the same answer.
struct PoolNodeCreated {
  NodeRequest request = 0;
  std::string provider_id;
  std::optional<Duration> lifetime;  // the provider ends it on its own this long from now
};
struct PoolNodeCreateFailed {
  NodeRequest request = 0;
  ProviderFault fault = ProviderFault::kRefused;
  std::string detail;
};
// The provider has confirmed that the node ends; the node no longer exists once the provider no longer lists it.
struct PoolNodeDeleted {
  NodeRequest request = 0;
};
struct PoolNodeDeleteFailed {
  NodeRequest request = 0;
  ProviderFault fault = ProviderFault::kRefused;
  std::string detail;
};
// The nodes that a pool's provider has, of those that this daemon requested. `asked_before`: requests with this or a
// higher number may be too new to be in the list. `begun_at`: when the provider was called; none in rows of earlier
// versions, which are replayed by the rules of their time.
struct PoolListed {
  struct Entry {
    NodeRequest request = 0;
    std::string provider_id;
    std::optional<Duration> lifetime;
    bool operator==(const Entry&) const = default;
  };
  std::string pool;
  NodeRequest asked_before = 0;
  std::vector<Entry> nodes;
  std::optional<Instant> begun_at = {};
};
struct PoolListFailed {
  std::string pool;
  ProviderFault fault = ProviderFault::kRefused;
  std::string detail;
};
// --- tenants ------------------------------------------------------------------------------------

// The whole tree of tenants from now on. Empty: the pool is no longer shared by rule.
struct TenantsConfigured {
  TenantTree tree;
};
// The whole list of prices from now on. Empty: each node costs what its token or pool states.
struct PricesConfigured {
  PriceList list;
};
// The UTC time of the time line's zero, by the clock of the daemon's host: budgets use calendar days, weeks and months,
// and prices use hours.
struct UtcSet {
  std::int64_t unix_us_at_zero = 0;  // since 1970
};
// Only the passing of time, so that waits end.
struct ClockAdvanced {};

using Fact =
    std::variant<JobSubmitted, JobCancelRequested, JobResizeRequested, JobSuspendRequested, JobResumeRequested,
                 JobCheckpointRequested, JobChanged, NodeJoined, NodeLost, NodeProbed, NodeCordonChanged, NodeLabelled,
                 NodeDrainRequested, NodeDrainCancelled, NodeReclaimNoticed, NodeDampingConfigured, DetectorConfigured,
                 NodeFaultsCleared, NodeRemoved, MaintenanceAdded, MaintenanceRemoved, WorkerReady, WorkerJoining,
                 WorkerStuck, ProgramStarted, ProgramEnded, NoticeAnswered, SlotsHeld, SlotsReleased, WorkerExited,
                 GenerationSwitched, StepsMeasured, SharesChanged, DataEpochAudited, TrainingFinished, StateParked,
                 CheckpointTaken, CheckpointFailed, StateRestored, StateBrought, StateLeft, PolicyActivated,
                 PolicyRolledBack, PolicyShadowed, PolicyAnswered, PoolsConfigured, PoolNodeCreated,
                 PoolNodeCreateFailed, PoolNodeDeleted, PoolNodeDeleteFailed, PoolListed, PoolListFailed,
                 TenantsConfigured, PricesConfigured, UtcSet, ClockAdvanced>;

struct TimedFact {
  Instant at;  // never before the previous fact's
  Fact fact;
};

}  // namespace tidepool::core
