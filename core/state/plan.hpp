// A decision is a value: what should change, why, and which alternatives lost. It is computed without
// effects, validated, journaled, and only then carried out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/state/mark.hpp"
#include "core/state/node_pools.hpp"
#include "core/state/reason.hpp"
#include "core/state/tenants.hpp"

namespace tidepool::core {

struct ClusterState;

// A worker that is to be started: where, on which of the node's slots.
struct WorkerPlacement {
  WorkerId worker;
  NodeId node;
  std::vector<int> slots;  // ascending slot indices of the node; gpus_per_worker of them
  bool operator==(const WorkerPlacement&) const = default;
};

// Starts a job's first workers (or its first ones after a suspension).
struct StartIntent {
  JobId job;
  std::vector<WorkerPlacement> joining_workers;
};
// Adds workers to a running job.
struct GrowIntent {
  JobId job;
  std::vector<WorkerPlacement> joining_workers;
};
// Takes members out of a running job at its next switch.
struct ShrinkIntent {
  JobId job;
  std::vector<WorkerId> leaving_workers;
  WorkerId straggler = {};           // the slow worker that is given up with it; none = it shrinks for another reason
  std::vector<JobId> for_jobs = {};  // that are to have the slots, in the order of their claims
};
// One in, one out: the joining worker is started first; the leaving worker goes when it is ready.
enum class ReplaceCause {
  kStraggler,  // the leaving worker is slow
  kSlotType,   // another job waits for slots of the type that the leaving worker holds
  kDrain,      // the leaving worker's node is being drained
  kTogether,   // its job, or another one, has its workers on fewer nodes then
};
struct ReplaceIntent {
  JobId job;
  WorkerPlacement joining_worker;
  WorkerId leaving_worker;
  ReplaceCause cause = ReplaceCause::kStraggler;
};
// Workers of a job go to other slots: as many are started first, or more if it grows. Where all leave, those of a live
// job that hold its state hand it on: they leave in two switches, the last of them once the others are there. A slow
// worker that leaves with its group is named first.
struct MoveIntent {
  JobId job;
  std::vector<WorkerPlacement> joining_workers;
  std::vector<WorkerId> leaving_workers;
  ReplaceCause cause = ReplaceCause::kSlotType;
};
// Splits the samples of a step anew, at a step that all members agree on. Neither members nor communicator change.
struct RebalanceIntent {
  JobId job;
  GenerationNumber generation = 0;    // the one that steps
  std::int64_t number = 0;            // of the table, one above the newest told in this generation
  std::vector<std::int64_t> weights;  // by rank, 1 to kFullShare
  WorkerId worker;                    // whose share changes
  bool regains = false;               // it is faster again, and its share larger
};
// Commits generation `number`: these members, in rank order. Follows from the state alone: all
// joining workers are ready, or a member has died.
struct SwitchIntent {
  JobId job;
  GenerationNumber number = 0;
  std::vector<WorkerId> members;
  bool after_failure = false;  // survivors drop the old communicator at once
};
// Starts the programs of generation `number`, which is committed: every program before them has ended
// (ResizeMode::kRestart).
struct LaunchIntent {
  JobId job;
  GenerationNumber number = 0;
};
// Takes all slots from a job; its state is parked and it waits for a Start. Commits generation `number`, which has
// no members: the present members keep the state and leave, within the grace.
struct PreemptIntent {
  JobId job;
  GenerationNumber number = 0;  // 0 = nothing to keep: the job has not stepped since the last start
  bool after_failure = false;   // there is no step to agree on; every survivor keeps what it has
  JobId for_job = {};           // that is to have the slots; none = it is not preempted for another job
};
// Asks the program of a running job whether it leaves for another job. It may refuse; all else stays as it is.
struct AskIntent {
  JobId job;
  JobId for_job;
};
// Ends one worker process: with notice until `grace` has passed, then by force.
enum class StopCause {
  kLeaves,         // it has no place in the job any more, or the job ends or waits
  kStartTimeout,   // it was not ready in time
  kStuck,          // it makes no progress
  kSwitchTimeout,  // it holds up a switch
};
struct StopWorkerIntent {
  JobId job;
  WorkerId worker;
  Duration grace;
  StopCause cause = StopCause::kLeaves;
};
// Has a node's agent measure its devices again: what a slow worker's slowness goes with is not clear.
struct ProbeIntent {
  JobId job;
  NodeId node;
  WorkerId worker;  // the slow one
};
// Ends a job: its workers are stopped and it takes a final state.
enum class JobEnd { kSucceeded, kFailed, kCancelled };
struct EndJobIntent {
  JobId job;
  JobEnd end = JobEnd::kFailed;
};

using Intent =
    std::variant<StartIntent, GrowIntent, ShrinkIntent, ReplaceIntent, MoveIntent, RebalanceIntent, SwitchIntent,
                 LaunchIntent, PreemptIntent, AskIntent, StopWorkerIntent, ProbeIntent, EndJobIntent>;

[[nodiscard]] JobId job_of(const Intent& intent);
// The slow worker that the intent is about; none if it is about none.
[[nodiscard]] WorkerId straggler_of(const Intent& intent);
[[nodiscard]] std::string_view name_of(const Intent& intent);  // "start", "grow", "switch", ...
// That the intent starts, of whichever kind it is. They live as long as it does.
[[nodiscard]] std::span<const WorkerPlacement> joining_workers_of(const Intent& intent);
// Whose slots it sets free. Requires: its job exists.
[[nodiscard]] std::vector<WorkerId> workers_freed_by(const ClusterState& state, const Intent& intent);

// What is to become of the nodes of pools. Their providers carry it out; they read ClusterState::pools.
struct CreateNodeIntent {
  std::string pool;
  NodeRequest request = 0;  // NodePools::next_request, and the numbers that follow
  std::string name;         // under which its agent is to join
};
// Nothing new comes to it, and what is there leaves it until the deadline.
struct EmptyNodeIntent {
  NodeRequest request = 0;
  std::string name;
  Duration within;
};
// Requires: it holds nothing, or its agent is away.
struct ReleaseNodeIntent {
  NodeRequest request = 0;
  std::string name;
  bool failed = false;  // it has never come to be of use: its pool waits before it asks for another
};
using NodeIntent = std::variant<CreateNodeIntent, EmptyNodeIntent, ReleaseNodeIntent>;
[[nodiscard]] std::string_view name_of(const NodeIntent& intent);         // "create_node", "empty_node", "release_node"
[[nodiscard]] const std::string& node_name_of(const NodeIntent& intent);  // "gpu-3"

struct PlannedNode {
  NodeIntent intent;
  Reason reason;
};

struct PlannedIntent {
  Intent intent;
  Reason reason;
};
using Plan = std::vector<PlannedIntent>;

// A size that was weighed.
struct Alternative {
  int size = 0;
  double score = 0;  // in the policy's own measure; larger is better
  Reason reason;
  bool operator==(const Alternative&) const = default;
};

// Best first; of equals the smaller.
void sort_best_first(std::vector<Alternative>& alternatives);

// What a plan for the whole cluster gives to one job.
struct Target {
  int size = 0;                   // workers; 0 = should hold nothing, else an allowed size
  std::int64_t place = 0;         // in the order in which slots are handed out
  Reason reason;                  // why this size
  double score = 0;               // of this size, as those of the sizes that lost; 0 where its policy weighs none
  std::vector<Alternative> lost;  // best first, at most 4
  Mark mark;
  bool unasked = false;  // the policy file has not been asked about the job: it is, as soon as that can be
  bool operator==(const Target&) const = default;
};
struct TargetChange {
  JobId job;
  std::optional<Target> now;  // none = the plan no longer counts with the job
  bool words_only = false;    // what is said has changed and nothing else: place and inputs stay as they were
};
// What a new plan changes of a tenant; none = it has no jobs any more.
struct TenantChange {
  std::string tenant;
  std::optional<TenantPlan> now;
};
// A new plan for the whole cluster, as what it changes in the one before.
struct Replan {
  std::vector<TargetChange> changes;  // by job
  Mark mark;                          // on the cluster
  std::optional<Instant> wake;        // the policy asks to plan again then, whatever happens
  std::string error;  // why the policy's answer was dropped, so that the old plan stands; empty = it was not
  std::vector<TenantChange> tenants = {};  // by name
  bool counts_loans = false;               // what tenants have held is counted up to now
};

// What keeps a job from slots that it is to have, as far as the engine goes by it later.
enum class BlockedOn {
  kNothing,
  kSlots,         // waits to start: there is no room
  kQueue,         // waits to start behind others in a strict queue
  kClusterSize,   // needs more than the whole cluster has
  kSavedState,    // waits for room where its newest state lies
  kMoreSlots,     // runs and would grow: there is no room
  kNodesCleared,  // waits to start: workers of other jobs are moving off nodes for it
};
// What the engine remembers of a verdict. Reasons are for people: nothing is decided by them.
struct Blocked {
  BlockedOn on = BlockedOn::kNothing;
  WorkerId straggler = {};  // its slow worker, about which something is done or could be; none = it has none
  std::optional<std::string> domain =
      {};  // of kNodesCleared: the one that others leave (PlacementSpec::key), if it is one
  bool operator==(const Blocked&) const = default;
};

// What the round found about one job, with or without an intent.
struct Verdict {
  JobId job;
  Reason reason;
  std::vector<Alternative> lost;  // best first, at most 4
  // The size that its policy wants, with its own reason: `reason` may say what keeps the job from having it. None where
  // no policy was asked.
  std::optional<Alternative> chosen = std::nullopt;
  Blocked blocked = {};
};

struct Decision {
  DecisionId id;  // none while there is nothing in it
  Instant at;
  std::string policy;  // name of the policy that ranked
  std::uint64_t inputs_digest = 0;
  Plan plan;
  std::vector<Verdict> verdicts;        // only those that say something else than the stored one
  std::optional<Replan> replan;         // of a policy for the whole cluster
  std::int64_t steps_counted = 0;       // work done, in counted steps
  std::vector<PlannedNode> nodes = {};  // of pools

  // Nothing to carry out and nothing new to say: not journaled.
  [[nodiscard]] bool empty() const { return plan.empty() && verdicts.empty() && !replan && nodes.empty(); }
};

}  // namespace tidepool::core
