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
#include "base/time.hpp"
#include "core/state/device_speed.hpp"
#include "core/state/job_spec.hpp"
#include "core/state/plan.hpp"
#include "core/state/policy_deployment.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

// The names are those of the API; the table of legal changes is in job_state.hpp.
enum class JobState {
  kPending,     // holds no slots, waits for them
  kStarting,    // first workers boot; no step done since
  kRunning,     // steps at its generation, nothing under way
  kResizing,    // steps at its generation while joining workers boot or leaving workers wait for the switch
  kSuspending,  // told to park
  kSuspended,   // holds no slots, waits for the user
  kSucceeded,
  kFailed,
  kCancelled,
};
[[nodiscard]] bool is_final(JobState state);
[[nodiscard]] const char* to_text(JobState state);

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
  GenerationNumber joining = 0;       // newest generation that it has said it listens in
  std::optional<StuckNotice> stuck;   // its agent saw no progress
  GenerationNumber launched = 0;      // newest generation that its program was started in (ResizeMode::kRestart)
  bool program_ended = false;         // the program of that generation has ended well
  bool node_lost = false;             // its node is away; not counted on, slots still owned
  StragglerTrack track;
  WorkerId replaced;   // the straggler whose place it took; none = it took nobody's
  NodeId replaced_on;  // where that one ran
};

enum class NodeState { kUp, kLost };

// What its agent's probe has measured.
struct NodeHealth {
  std::vector<DeviceSpeed> devices;  // never empty
  Instant at;
  double best_gflops = 0;  // of its slowest device, the best it has ever shown; likewise below
  double best_copy_gbps = 0;
};

struct Node {
  NodeId id;
  std::string name;
  NodeState state = NodeState::kUp;
  bool cordoned = false;
  std::string slot_type;
  Money price_per_slot_hour;
  std::vector<WorkerId> owners;      // one per slot; none = free
  std::optional<NodeHealth> health;  // none: never measured
};

// Two sizes side by side: what the one gave last before a change of size, and the other first after it. Whatever else
// makes a job faster or slower over time weighs on both.
struct SizeChange {
  int from = 0;          // workers; 0 = it was never come to from another size
  double from_rate = 0;  // samples a second there
  double rate = 0;  // and here, until the cooldown was over or scaling.every_steps were measured, whichever is later
  Duration over;    // how long that was measured
  Instant at;       // when the change took effect
};

// What has been measured at one size.
struct SizeRecord {
  std::int64_t steps = 0;         // steps measured at this size, the first after a switch left out
  double step_seconds = 0;        // mean; recent measurements weigh more (see throughput.hpp)
  double samples_per_second = 0;  // mean, likewise
  Instant measured_at;            // last measurement
  SizeChange entered;             // newest
};

// The whole training as its program has told it, in steps or in samples; neither where it does not know.
struct ProgramLength {
  std::optional<std::int64_t> steps;
  std::optional<std::int64_t> samples;
  bool operator==(const ProgramLength&) const = default;
};

// What changing size has cost this job so far, by kind.
struct TransitionCost {
  std::int64_t count = 0;
  double mean_stall_ms = 0;
};

// How long this job's workers have taken from their start until they were ready.
struct BootCost {
  std::int64_t count = 0;
  double mean_ms = 0;
};

// The change of membership under way, if any: joining workers boot, leaving workers wait.
struct Transition {
  std::vector<WorkerId> joining_workers;
  std::vector<WorkerId> leaving_workers;
  Instant since;
  Reason reason;
  bool replaces = false;  // one worker goes and another takes its place
  int from_size = 0;
  int to_size = 0;
  bool committed = false;  // its generation is committed; it ends when the members have switched
};

// How the newest generation came about.
struct Commit {
  Instant at;
  Reason reason;
  bool replaces = false;       // by it one worker took another's place
  int from_size = 0;           // size at the last switch; 0 = first generation since a start
  bool after_failure = false;  // survivors went on without a dead member
};

// Where the newest generation of a job in ResizeMode::kRestart stands. Its workers are seats: each holds its slots
// from one generation to the next, while its agent ends the program of the old one and starts that of the new one.
struct RestartState {
  GenerationNumber launched = 0;  // newest generation whose programs were told to start
  std::optional<Instant> launched_at;
  WorkerId failed;  // whose program failed in the newest generation, so that all are started anew
  NodeId home;      // where rank 0 ran last, and with it a checkpoint folder that is not shared
};

// A copy of the job's state that outlives its workers.
struct KeptState {
  std::int64_t step = 0;     // committed steps in it
  std::int64_t samples = 0;  // of those steps, as far as they had been told
  NodeId node;               // where it was written
  Instant at;
};

// How the samples of a step are split: rank r takes weights[r] parts of them all.
struct SampleWeights {
  std::int64_t number = 0;            // counts the orders within a generation; 0 = even shares
  std::vector<std::int64_t> weights;  // by rank, 1 to kFullShare; empty = even shares
  bool operator==(const SampleWeights&) const = default;
};
// The weight of a worker that is not slow.
inline constexpr std::int64_t kFullShare = 1'000;

// A slow worker that has been given a smaller share instead of being replaced.
struct BatchRebalance {
  std::int64_t weight = kFullShare;
  double lost_s = 0;  // slot-seconds that its slowness has cost the others, before and since
  double idle_s = 0;  // slot-seconds that it has waited for the others of late: its share has become too small
};

// What the newest plan for the whole cluster gives the job, and what it rested on: when that changes, the plan is made
// anew (plan_grounds.hpp).
struct PlanInputs {
  std::uint64_t asked = 0;             // digest of what its user asks for
  bool resize_blocked = false;         // its size could not change then
  std::map<int, double> step_seconds;  // by size, of the sizes measured for long enough
};
struct PlannedTarget {
  Target target;
  PlanInputs inputs;
};

struct Job {
  JobId id;
  JobSpec spec;
  JobState state = JobState::kPending;
  Instant submitted_at;
  std::optional<Instant> started_at;  // first step ever
  std::optional<Instant> finished_at;
  std::optional<Instant> last_start_at;   // last Start accepted
  std::optional<Instant> last_resize_at;  // last change of size that took effect

  // membership
  GenerationNumber generation = 0;  // newest committed
  std::vector<WorkerId> members;    // in rank order
  bool switched = false;            // the members have reported that they step at `generation`
  std::int64_t switch_step = 0;     // first step of `generation`, once switched
  Commit commit;
  // The generation that the newest reports came from, and its size: `generation`, or while that one has not been
  // switched to the one before. 0 = none since the last start.
  GenerationNumber stepping_generation = 0;
  int stepping_size = 0;
  bool parking = false;  // `generation` has no members: who is left keeps the state and leaves
  RestartState restart_state;
  std::optional<Transition> transition;
  std::vector<WorkerId> workers;  // every worker that still holds slots, ascending

  // Members of `generation` when the last of them was lost sight of with its node. They may still step: if all come
  // back before the job has started anew, it goes on with them. Empty: nobody can be taken back.
  std::vector<WorkerId> members_on_lost_nodes;

  // Shares (rebalance_planner.hpp). They hold within `generation` only: each begins with even ones.
  SampleWeights weights_told;    // newest order
  SampleWeights weights_used;    // by which the members step, as far as they have said
  bool weights_ordered = false;  // the newest decision about it told shares that the members do not go by yet
  std::map<WorkerId, BatchRebalance> rebalanced;  // members with less than a full share

  // wishes
  int pinned_size = 0;  // 0 = none
  bool cancel_requested = false;
  bool suspend_requested = false;
  bool finished_training = false;  // reported its end; waits for the exits
  bool misconfigured = false;      // a first worker said that the job's own settings are wrong
  bool cooldown_waived = false;    // a member was lost: growing back need not wait
  bool checkpoint_wanted = false;  // ordered and not yet told of
  // Members that exited with 0 while rank 0 has not reported the end: it may be on its way.
  std::vector<WorkerId> unconfirmed_exits;
  std::optional<Instant> unconfirmed_since;

  // measurements
  std::int64_t last_step = 0;
  std::int64_t samples_done = 0;
  ProgramLength program_length;           // newest told; job_work.hpp says what is left
  std::optional<Instant> last_report_at;  // newest report of steps
  std::optional<KeptState> parked;        // newest state that was parked
  std::optional<KeptState> checkpoint;    // newest checkpoint told of
  std::optional<Instant> held_since;      // since when it waits for room where its state lies, though others have room
  std::int64_t epoch = 0;
  double first_loss = 0;
  double last_loss = 0;
  std::int64_t global_batch = 0;        // samples a step by the newest report; 0 = not told
  std::optional<double> noise_scale;    // of the gradient, in samples, by the newest report that knew it
  std::map<int, SizeRecord> sizes;      // by size
  std::int64_t steps_since_switch = 0;  // measured at the present generation
  std::map<WorkerId, std::vector<double>> detector_state;  // what the straggler detector remembers of each member
  TransitionCost grow_cost;
  TransitionCost replace_cost;
  TransitionCost shrink_cost;
  TransitionCost failure_cost;
  TransitionCost restart_cost;    // every change of size in ResizeMode::kRestart
  TransitionCost rebalance_cost;  // changes of shares
  BootCost boot_cost;
  std::optional<std::int64_t> audited_epoch;  // newest since the last start; an audit may be told twice
  int restarts = 0;                           // losses of workers so far; a lost node counts once
  int replacements = 0;                       // of stragglers, in the present run of them (straggler_patience.hpp)
  bool shrunk_for_straggler = false;          // it has given one up since its last change of size for another reason
  std::optional<Instant> last_replacement_at;
  std::string last_error;  // how the newest lost worker ended

  // account
  Instant charged_until;
  Duration slot_time;  // slots x time held
  Money cost;
  std::int64_t cost_remainder = 0;  // of cost, in millionths x microseconds / hour, so that sums are exact

  Verdict verdict;                       // newest; names no job until the first decision about it
  std::optional<PlannedTarget> planned;  // by a policy for the whole cluster, while its plan counts with the job

  [[nodiscard]] int size() const { return static_cast<int>(members.size()); }
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
  std::map<int, SizeRecord> sizes;
};

// How many have left, ever.
struct EndedCounts {
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::int64_t cancelled = 0;
};

// The newest plan for the whole cluster, beside what it gives each job.
struct ClusterPlan {
  std::string policy;  // whose; empty = none was made
  Instant made_at;
  std::uint64_t nodes = 0;      // digest of the nodes that it counted with
  Mark mark;                    // the policy's own, on the cluster
  std::optional<Instant> wake;  // the policy asked to plan again then
  std::string error;            // why its newest answer was dropped; empty = it was not
};

// All of it. Copies share what they hold until one of them changes it (copy on write), so that a picture for readers
// costs a pointer for every 16 jobs, workers or nodes.
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

  [[nodiscard]] const Job* find_job(JobId id) const;  // null: it has ended and left, or there was none
  [[nodiscard]] bool has_ended(JobId id) const { return id && id.number() < next_job && !jobs.contains(id); }
  [[nodiscard]] const EndedJob* find_ended(JobId id) const;
  [[nodiscard]] const Node* find_node(NodeId id) const;
  [[nodiscard]] const Worker* find_worker(WorkerId id) const;
  // Copies the job if a reader shares it. Requires: the job exists.
  [[nodiscard]] Job& mutable_job(JobId id);

  [[nodiscard]] int slots_total() const;  // of nodes that are up
  [[nodiscard]] int slots_free() const;   // of nodes that are up and not cordoned
};

// Of the workers that a node's agent says it runs, those that the state does not place there: they are to
// be killed, whoever started them.
[[nodiscard]] std::vector<WorkerId> unknown_workers(const ClusterState& state, NodeId node,
                                                    const std::vector<WorkerId>& running);

}  // namespace tidepool::core
