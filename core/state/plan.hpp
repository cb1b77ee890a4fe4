// A decision is a value: what should change, why, and which alternatives lost. It is computed without effects,
// validated, journaled, and only then carried out.
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

// A worker that will be started: on which node, and on which of its slots.
struct WorkerPlacement {
  WorkerId worker;
  NodeId node;
  std::vector<int> slots;  // ascending slot indices of the node; gpus_per_worker of them
  bool operator==(const WorkerPlacement&) const = default;
};

// Starts a job's first workers, also after a suspension.
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
  WorkerId straggler = {};           // the slow worker that is removed by it; none = it shrinks for another reason
  std::vector<JobId> for_jobs = {};  // that will get the slots, in the order of their claims
};
// One in, one out: the joining worker is started first; the leaving worker leaves when the joining one is ready.
enum class ReplaceCause {
  kStraggler,  // the leaving worker is slow
  kSlotType,   // another job waits for slots of the type that the leaving worker holds
  kDrain,      // the leaving worker's node is being drained
  kTogether,   // its job, or another one, then has its workers on fewer nodes
};
struct ReplaceIntent {
  JobId job;
  WorkerPlacement joining_worker;
  WorkerId leaving_worker;
  ReplaceCause cause = ReplaceCause::kStraggler;
};
// Workers of a job move to other slots: as many workers are started first, or more if the job grows. If all workers
// leave, those that hold the state of a live job pass it on: they leave in two switches, the last of them once the new
// workers are there. A slow worker that leaves with its group is listed first.
struct MoveIntent {
  JobId job;
  std::vector<WorkerPlacement> joining_workers;
  std::vector<WorkerId> leaving_workers;
  ReplaceCause cause = ReplaceCause::kSlotType;
};
// Splits the samples of a step in a new way, from a step on which all members agree. Members and communicator stay the
// same.
struct RebalanceIntent {
  JobId job;
  GenerationNumber generation = 0;    // the one that steps
  std::int64_t number = 0;            // of the table, one above the newest reported in this generation
  std::vector<std::int64_t> weights;  // by rank, 1 to kFullShare
  WorkerId worker;                    // whose share changes
  bool regains = false;               // it is faster again, and its share becomes larger
};
// Commits generation `number`: these members, in rank order. Follows from the state alone: all joining workers are
// ready, or a member has died.
struct SwitchIntent {
  JobId job;
  GenerationNumber number = 0;
  std::vector<WorkerId> members;
  bool after_failure = false;  // survivors drop the old communicator at once
};
// Starts the programs of generation `number`, which is committed: all programs of earlier generations have ended
// (ResizeMode::kRestart).
struct LaunchIntent {
  JobId job;
  GenerationNumber number = 0;
};
// Takes all slots from a job; its state is parked and it waits for a Start. Commits generation `number`, which has no
// members: the present members save the state and leave within the grace.
struct PreemptIntent {
  JobId job;
  GenerationNumber number = 0;  // 0 = nothing to save: the job has not stepped since the last start
  bool after_failure = false;   // there is no step to agree on; every survivor saves the state that it has
  JobId for_job = {};           // the job that will get the slots; none = it is not preempted for another job
};
// Asks the program of a running job whether it leaves for another job. It may refuse; nothing else changes.
struct AskIntent {
  JobId job;
  JobId for_job;
};
// Ends one worker process: with notice until `grace` has passed, then by force.
enum class StopCause {
  kLeaves,         // it is no longer part of the job, or the job ends or waits
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
// Makes a node's agent measure its devices again: the cause of a slow worker's slowness is unclear.
struct ProbeIntent {
  JobId job;
  NodeId node;
  WorkerId worker;  // the slow one
};
// Ends a job: its workers are stopped and it enters a final state.
enum class JobEnd { kSucceeded, kFailed, kCancelled };
struct EndJobIntent {
  JobId job;
  JobEnd end = JobEnd::kFailed;
};

using Intent =
    std::variant<StartIntent, GrowIntent, ShrinkIntent, ReplaceIntent, MoveIntent, RebalanceIntent, SwitchIntent,
                 LaunchIntent, PreemptIntent, AskIntent, StopWorkerIntent, ProbeIntent, EndJobIntent>;

[[nodiscard]] JobId job_of(const Intent& intent);
// The slow worker that the intent is about; none if it is about no slow worker.
[[nodiscard]] WorkerId straggler_of(const Intent& intent);
[[nodiscard]] std::string_view name_of(const Intent& intent);  // "start", "grow", "switch", ...
// The workers that an intent of any kind starts. They live as long as the intent.
[[nodiscard]] std::span<const WorkerPlacement> joining_workers_of(const Intent& intent);
// The workers whose slots the intent frees. Requires: its job exists.
[[nodiscard]] std::vector<WorkerId> workers_freed_by(const ClusterState& state, const Intent& intent);

// Changes to the nodes of pools. Their providers carry them out by reading ClusterState::pools.
struct CreateNodeIntent {
  std::string pool;
  NodeRequest request = 0;  // NodePools::next_request and the following numbers
  std::string name;         // under which its agent will join
};
// The node gets no new workers, and its workers leave it before the deadline.
struct EmptyNodeIntent {
  NodeRequest request = 0;
  std::string name;
  Duration within;
};
// Requires: the node holds nothing, or its agent is lost.
struct ReleaseNodeIntent {
  NodeRequest request = 0;
  std::string name;
  bool failed = false;  // it never came into use: its pool waits before it requests another
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

// A size that was considered.
struct Alternative {
  int size = 0;
  double score = 0;  // by the policy's own measure; larger is better
  Reason reason;
  bool operator==(const Alternative&) const = default;
};

// Best first; between equal scores the smaller size.
void sort_best_first(std::vector<Alternative>& alternatives);

// What a plan for the whole cluster gives to one job.
struct Target {
  int size = 0;                   // workers; 0 = should hold no slots, else an allowed size
  std::int64_t place = 0;         // in the order in which slots are handed out
  Reason reason;                  // why this size
  double score = 0;               // of this size, comparable with the scores in `lost`; 0 if its policy has no scores
  std::vector<Alternative> lost;  // best first, at most 4
  Mark mark;
  bool unasked = false;  // the policy file was not asked about the job: it will be as soon as possible
  bool operator==(const Target&) const = default;
};
struct TargetChange {
  JobId job;
  std::optional<Target> now;  // none = the plan no longer includes the job
  bool words_only = false;    // only the explanation has changed: place and inputs stay as they were
};
// What a new plan changes for a tenant; none = the tenant has no jobs any more.
struct TenantChange {
  std::string tenant;
  std::optional<TenantPlan> now;
};
// A new plan for the whole cluster, as changes to the previous plan.
struct Replan {
  std::vector<TargetChange> changes;  // by job
  Mark mark;                          // on the cluster
  std::optional<Instant> wake;        // the policy asks to plan again then, whatever happens
  std::string error;  // why the policy's answer was dropped and the old plan stays in force; empty = it was not
  std::vector<TenantChange> tenants = {};  // by name
  bool counts_loans = false;               // counts what tenants have held up to now
};

// What keeps a job from slots that it should have, as far as later decisions read it.
enum class BlockedOn {
  kNothing,
  kSlots,         // waits to start: there is no room
  kQueue,         // waits to start behind others in a strict queue
  kClusterSize,   // needs more than the whole cluster has
  kSavedState,    // waits for room on the node that has its newest state
  kMoreSlots,     // runs and would grow: there is no room
  kNodesCleared,  // waits to start: workers of other jobs are moving off nodes for it
};
// What the engine remembers of a verdict. Reasons are for people: no decision reads them.
struct Blocked {
  BlockedOn on = BlockedOn::kNothing;
  WorkerId straggler = {};  // its slow worker, about which an action is taken or possible; none = it has none
  std::optional<std::string> domain =
      {};  // for kNodesCleared: the domain that other jobs leave (PlacementSpec::key), if it is one domain
  bool operator==(const Blocked&) const = default;
};

// The result of the round for one job, with or without an intent.
struct Verdict {
  JobId job;
  Reason reason;
  std::vector<Alternative> lost;  // best first, at most 4
  // The size that its policy wants, with the reason for that size: `reason` may state what keeps the job from having
  // it. None if no policy was asked.
  std::optional<Alternative> chosen = std::nullopt;
  Blocked blocked = {};
};

struct Decision {
  DecisionId id;  // none while the decision is empty
  Instant at;
  std::string policy;  // name of the policy that ranked
  std::uint64_t inputs_digest = 0;
  Plan plan;
  std::vector<Verdict> verdicts;        // only those that differ from the stored one
  std::optional<Replan> replan;         // of a policy for the whole cluster
  std::int64_t steps_counted = 0;       // work done, in counted steps
  std::vector<PlannedNode> nodes = {};  // of pools

  // Nothing to carry out and nothing new to report: not journaled.
  [[nodiscard]] bool empty() const { return plan.empty() && verdicts.empty() && !replan && nodes.empty(); }
};

}  // namespace tidepool::core
