// Facts: everything that has happened, as the engine learns it. A fact is journaled before anything
// follows from it, and replaying the facts in order rebuilds the state exactly. Closed variant: each
// case is one plain struct; code that handles facts handles all of them.
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

// --- what users ask for -------------------------------------------------------------------------

// The id must be Engine::next_job_id(); the spec is already checked and completed.
struct JobSubmitted {
  JobId job;
  JobSpec spec;
};
struct JobCancelRequested {
  JobId job;
};
// A wish, not an order: pins the job's size until it is cleared with size = 0.
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
// The members are to take a checkpoint soon.
struct JobCheckpointRequested {
  JobId job;
};
// The whole specification anew. What its workers were started with stays as it was (job_facts.cpp), and its
// bounds hold the present size.
struct JobChanged {
  JobId job;
  JobSpec spec;
};

// --- what agents report -------------------------------------------------------------------------

// An agent has connected (for the first time or again). `running` is its inventory: workers that it
// does not list are dead, and workers the state does not know are to be killed.
struct NodeJoined {
  NodeId node;            // Engine::node_id_for(name), or Engine::next_node_id() for a new name
  std::string name;       // unique among nodes
  int slots = 0;          // >= 1
  std::string slot_type;  // "cpu", "NVIDIA H200", ...
  Money price_per_slot_hour;
  std::vector<WorkerId> running;
  std::string data_address{};  // at which its workers meet those of other nodes; empty = not told
  std::optional<std::vector<std::string>>
      isolation{};                              // what it keeps of its jobs, by the protocol's names; none: not told
  std::map<std::string, std::string> labels{};  // of the node token with which it was let in
  bool moves_states = false;                    // its agent brings saved states and hands them over
  bool gives_notice = false;                    // its agent tells programs that they are to end
  // Bytes that a slot's share of its memory is; 0: it bounds none; none: not told.
  std::optional<std::int64_t> memory_per_slot{};
};
// The agent's connection is gone beyond its patience. Its slots keep their owners (a slot leaves an
// owner only on proof of death), but its workers are no longer counted on.
struct NodeLost {
  NodeId node;
  std::string why;
  bool given_back = false;  // as its pool wanted (NodePools::gives_back), so no event tells it
  // Its agent ends and takes its workers with it, whose exits follow: no fault of the node, and no loss of their jobs.
  bool stopped = false;
};
// The agent has measured its devices, at joining or since. Replaces what was known.
struct NodeProbed {
  NodeId node;
  std::vector<DeviceSpeed> devices;
};
struct NodeCordonChanged {
  NodeId node;
  bool cordoned = false;
};
// An operator sets labels of the node, and takes away those that are none. Others stay.
struct NodeLabelled {
  NodeId node;
  std::map<std::string, std::optional<std::string>> labels;
};
// The node is to be empty so long after now: no new workers, and those there move away before. Of a node that is being
// drained already it changes deadline and reason.
struct NodeDrainRequested {
  NodeId node;
  Duration within;  // >= 0
  std::string reason;
};
// Its workers may stay, and new ones come.
struct NodeDrainCancelled {
  NodeId node;
};
// The node's agent has been told that the machine is taken back so long after now: it is drained until then. Told again
// it can only bring the end forward. None: the notice is withdrawn, and the drain that it caused ends.
struct NodeReclaimNoticed {
  NodeId node;
  std::optional<Duration> within;  // >= 0
};
// How faults of nodes count from now on.
struct NodeDampingConfigured {
  NodeDamping damping;
};
// From now on this straggler detector judges the jobs that ask for none by name.
struct DetectorConfigured {
  std::string name;
};
// The faults of the node do not count any more.
struct NodeFaultsCleared {
  NodeId node;
};
// The node does not come back: it leaves the state. Only of one that is lost; of those of pools no user has to ask for
// it (node_removal.hpp).
struct NodeRemoved {
  NodeId node;
};
// The window's number is the next one (Maintenance::next).
struct MaintenanceAdded {
  MaintenanceWindow window;
};
// Its nodes take workers again, as far as it is for this window.
struct MaintenanceRemoved {
  WindowNumber window = 0;
};
// Has booted, loaded its data and built its model; waits for a generation. At most one of the lengths of the whole
// training is given, by a program that knows it; one that is started anew at each size tells it when it runs, or later.
struct WorkerReady {
  WorkerId worker;
  std::optional<std::int64_t> work_steps = std::nullopt;
  std::optional<std::int64_t> work_samples = std::nullopt;
};
// Has said where it listens in `generation`; told once for each.
struct WorkerJoining {
  WorkerId worker;
  GenerationNumber generation = 0;
};
// Its agent sees no progress: it computes at one step for far longer than its steps take, or sends no pulse.
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
// That program has ended without being asked to, or that of an older generation was killed because it did not end as it
// was told. Its worker keeps its slots.
struct ProgramEnded {
  WorkerId worker;
  GenerationNumber generation = 0;
  int exit_code = -1;  // -1 if ended by a signal or unknown
  int signal = 0;      // 0 if it exited by itself
  std::string detail;  // last line of its output, or why it could not start
};
// The program of a worker that has been told to leave answers.
struct NoticeAnswered {
  WorkerId worker;
  DecisionId decision;      // the notice's
  std::int64_t number = 1;  // counts the answers to one notice
  NoticeAnswer answer = NoticeAnswer::kSaving;
  Duration needs;  // kUntil: from now on
};
// Its program has ended, and its agent has not been able to prove its slots free since: they are quarantined until
// WorkerExited.
struct SlotsHeld {
  WorkerId worker;
  Duration lasted;     // since the program has ended
  std::string why;     // what holds them, such as "memory of GPU-1 is still held"
  int exit_code = -1;  // this and the rest as of WorkerExited
  int signal = 0;
  std::string detail;
};
// An operator says that all slots of the node that are quarantined are free.
struct SlotsReleased {
  NodeId node;
};
// Proof of death: the agent has reaped the process. Frees its slots.
struct WorkerExited {
  WorkerId worker;
  int exit_code = -1;  // -1 if ended by a signal or unknown
  int signal = 0;      // 0 if it exited by itself
  std::string detail;  // last line of its error output, or why it could not start
  // It exited with 0 and never said a word, as programs of live jobs do before they train: it is one that does not know
  // of Tidepool and would do the same again. Rows of earlier versions do not tell.
  bool never_joined = false;
  // It was a member, and its job had told no step since its start. Rows of earlier versions do not tell.
  bool never_stepped = false;
  // Its node has started nothing: no program of it has run. In rows of earlier versions, each that ended with neither
  // code nor signal.
  bool nothing_started = false;
};

// --- what jobs report (rank 0, through its agent) -----------------------------------------------

// The members of `generation` step together now.
struct GenerationSwitched {
  JobId job;
  GenerationNumber generation = 0;
  std::int64_t switch_step = 0;  // first step of the new generation
  double stall_ms = 0;           // last step before to first step after, beyond one normal step
  double build_ms = 0;           // building the communicator
  std::int64_t steps_redone = 0;
  std::int64_t samples_repeated = 0;
  std::int64_t bytes_moved = 0;  // state sent to joining workers
  // Newer than the step that a first generation started from. Facts of earlier versions tell none.
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
  // Compute time before the allreduce in microseconds, step-major: [step][rank], steps x ranks
  // entries; empty if not measured.
  std::vector<std::int64_t> compute_us;
  // Samples of all committed steps up to this report, as the workers hold them; none = not told. It mends what
  // was lost of earlier reports.
  std::optional<std::int64_t> samples_total;
  std::int64_t global_batch = 0;      // samples a step at this generation; 0 = not told
  std::optional<double> noise_scale;  // of the gradient, in samples, >= 0; none until it is known
  std::int64_t shares = 0;            // number of the share table that all these steps went by; 0 = even shares
};
// The members step by share table `number` of this generation now.
struct SharesChanged {
  JobId job;
  GenerationNumber generation = 0;
  std::int64_t number = 0;
  std::int64_t step = 0;  // first step of the new shares
  double stall_ms = 0;    // by how much that step was longer than the one after it
};
struct DataEpochAudited {
  JobId job;
  std::int64_t epoch = 0;
  std::int64_t expected = 0;  // samples in the data
  std::int64_t used = 0;      // samples committed in the epoch
  bool checksum_ok = false;
};
// The program has reached its end; the workers exit by themselves.
struct TrainingFinished {
  JobId job;
  std::int64_t last_step = 0;
  double loss = 0;
  std::optional<std::int64_t> samples_total;  // as in StepsMeasured
};
// A worker has written the job's state for a later start and exits next. After a failure every survivor does;
// they may differ by a step.
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
// A checkpoint was due and is not on disk.
struct CheckpointFailed {
  JobId job;
  WorkerId worker;
  GenerationNumber generation = 0;
  std::int64_t step = 0;
  std::string detail;
};
// The first generation since a start goes on from a parked state or a checkpoint.
struct StateRestored {
  JobId job;
  GenerationNumber generation = 0;
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  std::string path;
};
// The saved state that the job's first workers wait for has come to their node, whole.
struct StateBrought {
  JobId job;
  NodeId node;  // where it is now
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  Duration took;
};
// It has not come and is waited for no longer: the workers start without it.
struct StateLeft {
  JobId job;
  NodeId node;  // to which it should have come
  std::int64_t step = 0;
  std::string why;
};
// --- policy files -------------------------------------------------------------------------------

// From now on this version decides; none = the daemon's own policy, and nothing is left to roll back to.
struct PolicyActivated {
  std::optional<PolicyFileRef> file;
};
// The version before the active one decides again.
struct PolicyRolledBack {
  std::string why;
};
// The file is asked beside the policy in charge, and changes nothing; none = no file is.
struct PolicyShadowed {
  std::optional<PolicyFileRef> file;
};
// What the active policy file has answered, or why it has not.
struct PolicyAnswered {
  PolicyRound round;
};
// --- pools of nodes: what their configuration says, and what their providers report --------------

// All pools there are from now on; those that are missing are retired.
struct PoolsConfigured {
  double spot_share = 1;  // 0 to 1
  std::vector<PoolSpec> pools;
};
// The provider has the node; asked again for the same request it answers the same.
struct PoolNodeCreated {
  NodeRequest request = 0;
  std::string provider_id;
  std::optional<Duration> lifetime;  // after so long from now the provider ends it by itself
};
struct PoolNodeCreateFailed {
  NodeRequest request = 0;
  ProviderFault fault = ProviderFault::kRefused;
  std::string detail;
};
// The provider has said that the node ends; it is gone when the provider lists it no more.
struct PoolNodeDeleted {
  NodeRequest request = 0;
};
struct PoolNodeDeleteFailed {
  NodeRequest request = 0;
  ProviderFault fault = ProviderFault::kRefused;
  std::string detail;
};
// What the provider of a pool has, of what this daemon asked for. `asked_before`: requests at or above this number may
// be too new to be in it. `begun_at`: when the provider was asked; none in rows of earlier versions, which are replayed
// by the rules of then.
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

// The tree of tenants there is from now on, whole. Empty: the pool is shared by no rule any more.
struct TenantsConfigured {
  TenantTree tree;
};
// The list of prices there is from now on, whole. Empty: each node costs what its token or pool says.
struct PricesConfigured {
  PriceList list;
};
// Where the time line lies in UTC, as the daemon's host has it: budgets go by calendar days, weeks and months, and
// prices by hours.
struct UtcSet {
  std::int64_t unix_us_at_zero = 0;  // since 1970
};
// Nothing but the passing of time, so that waits end.
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
