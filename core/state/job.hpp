// One job as the engine holds it, in named parts: membership, requests, progress, measurements, recovery, account.
// Plain data; only Engine::step and Engine::accept change it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/money.hpp"
#include "base/time.hpp"
#include "core/money/budget.hpp"
#include "core/money/overheads.hpp"
#include "core/state/job_phase.hpp"
#include "core/state/job_spec.hpp"
#include "core/state/plan.hpp"
#include "core/state/reason.hpp"
#include "core/state/unused_state.hpp"

namespace tidepool::core {

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

// What changes to sizes of one class have cost.
struct SizeCost {
  std::int64_t count = 0;
  double mean_ms = 0;
};

// What changing size has cost this job so far, by kind: at all sizes, and by class of the size that it came to
// (type_records.hpp).
struct TransitionCost {
  std::int64_t count = 0;
  double mean_stall_ms = 0;
  std::map<int, SizeCost> by_size = {};
};

// How long this job's workers have taken from their start until they were ready; by the size that it came to with them.
struct BootCost {
  std::int64_t count = 0;
  double mean_ms = 0;
  std::map<int, SizeCost> by_size = {};
};

// How the newest generation came about.
struct Commit {
  Instant at;
  Reason reason;
  bool replaces = false;       // by it one worker took another's place
  int from_size = 0;           // size at the last switch; 0 = first generation since a start
  bool after_failure = false;  // survivors went on without a dead member
};

// Where the newest generation of a job in ResizeMode::kRestart stands. Each of its workers holds its slots
// from one generation to the next, while its agent ends the program of the old one and starts that of the new one.
struct RestartState {
  GenerationNumber launched = 0;  // newest generation whose programs were told to start
  std::optional<Instant> launched_at;
  WorkerId failed;  // whose program failed in the newest generation, so that all are started anew
  NodeId home;      // where rank 0 ran last, and with it a checkpoint folder that is not shared
};

// A copy of the job's state that outlives its workers.
struct SavedState {
  std::int64_t step = 0;     // committed steps in it
  std::int64_t samples = 0;  // of those steps, as far as they had been told
  NodeId node;               // where it was written, or has been brought since
  Instant at;
  std::int64_t bytes = 0;  // 0 = not told
  NodeId origin;           // where it lies as well, because it was written there; none: only on `node`
};

// Checkpoints that were due since the newest one, or since the start, and could not be taken.
struct CheckpointFailure {
  std::int64_t step = 0;  // of the newest
  std::int64_t times = 0;
  Instant at;
  std::string detail;
  bool operator==(const CheckpointFailure&) const = default;
};

// The job's newest saved state is on its way to the node where the job starts. Workers that start there wait for it.
struct StateMove {
  std::int64_t step = 0;
  NodeId from;
  NodeId to;
  Instant since;
  bool operator==(const StateMove&) const = default;
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

// How often the changes of a worker's share turned round, from less to more or back, without two of one kind between.
struct ShareTurns {
  bool grew = false;  // by the newest change
  int count = 0;
  bool operator==(const ShareTurns&) const = default;
};

// What the newest plan for the whole cluster gives the job, and what it rested on: when that changes, the plan is made
// anew (plan_inputs.hpp).
struct PlanInputs {
  std::uint64_t asked = 0;             // digest of what its user asks for
  bool resize_blocked = false;         // its size could not change then
  std::map<int, double> step_seconds;  // by size, of the sizes measured for long enough
};
struct PlannedTarget {
  Target target;
  PlanInputs inputs;
};

// The workers that a job has, had and will have.
struct Membership {
  GenerationNumber generation = 0;          // newest committed
  std::vector<WorkerId> members;            // in rank order
  bool switched = false;                    // the members have reported that they step at `generation`
  std::int64_t switch_step = 0;             // first step of `generation`, once switched
  std::optional<UnusedState> unused_state;  // told with the newest switch
  Commit commit;
  // The generation that the newest reports came from, and its size: `generation`, or while that one has not been
  // switched to the one before. 0 = none since the last start.
  GenerationNumber stepping_generation = 0;
  int stepping_size = 0;
  bool parking = false;  // `generation` has no members: the workers that are left save the state and leave
  RestartState restart_state;
  std::vector<WorkerId> workers;  // every worker that still holds slots, ascending
  // Members of `generation` when the last of them was lost with its node. They may still step: if all come back before
  // the job has started anew, it goes on with them. Empty: none can be taken back.
  std::vector<WorkerId> on_lost_nodes;

  [[nodiscard]] int size() const { return static_cast<int>(members.size()); }
};

// How the samples of a step are split among the members (rebalance_planner.hpp). Holds within one generation only: each
// begins with even shares.
struct SampleShares {
  SampleWeights ordered;                          // newest order
  SampleWeights used;                             // by which the members step, as far as they have said
  bool awaited = false;                           // the newest decision ordered weights that are not used yet
  std::map<WorkerId, BatchRebalance> rebalanced;  // members with less than a full share
  std::map<WorkerId, ShareTurns> turns;           // members whose share has been changed
};

// What the job's user asks for, beside its specification.
struct Requests {
  int pinned_size = 0;  // 0 = none
  bool cancel = false;
  bool suspend = false;
  bool checkpoint = false;  // ordered, and none has been reported since
};

// How far the training has come, as its program reports it.
struct Progress {
  std::int64_t step = 0;
  std::int64_t samples = 0;
  std::int64_t epoch = 0;
  ProgramLength length;                // newest told; job_work.hpp says what is left
  std::optional<Instant> reported_at;  // newest report of steps
  std::optional<Instant> late_at;      // by the end that a report first told to be near, since the last switch
  double first_loss = 0;
  double last_loss = 0;
  std::int64_t global_batch = 0;              // samples a step by the newest report; 0 = not told
  std::optional<double> noise_scale;          // of the gradient, in samples, by the newest report that knew it
  std::optional<std::int64_t> audited_epoch;  // newest since the last start; an audit may be told twice
  std::optional<Instant> audits_told_to;      // events of sound audits: their rate is used up to here
  std::int64_t audits_untold = 0;             // sound ones that the next such event counts, too
  bool finished = false;                      // reported its end; waits for the exits
};

// What has been measured of the job on slots of one type: its speed, and what its changes cost.
struct TypeRecords {
  std::map<int, SizeRecord> sizes;  // by size
  TransitionCost grow_cost;
  TransitionCost replace_cost;
  TransitionCost shrink_cost;
  TransitionCost failure_cost;
  TransitionCost start_cost;      // of the first switch of a start, from its order to its first step
  TransitionCost restart_cost;    // every change of size in ResizeMode::kRestart
  TransitionCost rebalance_cost;  // changes of sample weights
  BootCost boot_cost;
};

// Its records are those of the type of slot that it runs on or ran on last; those of other types are kept aside until
// it runs there again (type_records.hpp).
struct Measurements : TypeRecords {
  std::string slot_type;  // what its own records were measured on; empty = not known, or nothing was measured yet
  std::map<std::string, TypeRecords> on_other_types;
  std::int64_t steps_since_switch = 0;                     // measured at the present generation
  std::map<WorkerId, std::vector<double>> detector_state;  // what the straggler detector remembers of each member
};

// Losses of workers and what the job goes on from after them.
struct Recovery {
  std::optional<SavedState> suspended;   // newest state that was saved when the job gave up its workers
  std::optional<SavedState> checkpoint;  // newest checkpoint reported
  std::optional<CheckpointFailure> checkpoint_failure;
  std::optional<Instant>
      waits_near_since;             // since when it waits for room where its state lies, though others have room
  std::optional<StateMove> moving;  // only while the job starts
  // Members that exited with 0 while rank 0 has not reported the end: it may be on its way.
  std::vector<WorkerId> unconfirmed_exits;
  std::optional<Instant> unconfirmed_since;
  bool ended_badly = false;               // after the end of training, a member's program failed
  bool misconfigured = false;             // before its first step a program said that its own settings are wrong
  bool cooldown_waived = false;           // a member was lost: growing back need not wait
  int restarts = 0;                       // losses of workers so far; those lost together count once
  std::optional<std::int64_t> lost_step;  // newest step told when the newest loss came; none: none since its start
  int lost_there = 0;                     // losses in a row that came after that step
  std::optional<Instant> lost_start;      // newest start of which booting workers were lost, which counted once
  int replacements = 0;                   // of stragglers, in the present run of them (straggler_patience.hpp)
  bool shrunk_for_straggler = false;      // it has given one up since its last change of size for another reason
  std::optional<Instant> last_replacement_at;
  std::string last_error;  // how the newest lost worker ended
};

// What the job had used when a day in UTC ended, of each day in which it held slots.
struct DayMark {
  std::int64_t day = 0;  // since 1970
  Duration slot_time;
  Money cost;
  Overheads overheads = {};  // of that
};

// When the state that a restart would go on from was saved.
struct SavedMark {
  std::int64_t step = 0;
  Used useful;       // by then
  int restarts = 0;  // Recovery::restarts when the job last began to step
  // What it had lost to preemption when it last saved its state on giving up its slots: only later losses say that it
  // may save too late.
  Duration lost_at_leave = {};
};

// What the job has used, charged up to a time (account.hpp).
struct Account {
  Instant charged_until;
  Duration slot_time;  // slots x time held
  Money cost;
  std::int64_t cost_remainder = 0;  // of cost, in millionths x microseconds / hour, so that sums are exact
  std::vector<DayMark> days;        // ascending
  Overheads overheads;              // parts of the above (ledger.hpp)
  std::int64_t boot_remainder = 0;  // of the cost of Overhead::kBootAndResize, likewise
  SavedMark saved;
};

// Its program was asked to leave for another job, and may refuse.
struct LeaveQuestion {
  JobId for_job;
  DecisionId decision;  // that asked; the notices of the job's workers are of it
  Instant answer_by;
  bool yields = false;  // it has answered, and does not refuse
};

// It gave up slots for another job, and comes behind that one in line until it has had them.
struct GaveSlots {
  JobId for_job;
  Instant at;
};

// What the limits on preemption (tenants/preemption_limits.hpp), and the line, go by.
struct PreemptionRecord {
  std::optional<Instant> pending_since;  // when it came to wait again; none = since it was submitted
  std::vector<Instant> times;            // its newest preemptions for other jobs, as many as a limit is about
  bool room_made = false;                // others were preempted for it, and it has not started or grown since
  std::optional<LeaveQuestion> asked;    // newest that it has not refused
  std::optional<Instant> refused_until;  // its program has refused to leave
  std::vector<GaveSlots> gave_slots;     // by which it shrank or was preempted; some may have been had since
};

struct Job {
  JobId id;
  JobSpec spec;
  JobPhase phase;
  Instant submitted_at;
  std::optional<Instant> started_at;      // first step ever
  std::optional<Instant> last_start_at;   // last Start accepted
  std::optional<Instant> last_resize_at;  // last change of size that took effect

  Membership membership;
  SampleShares shares;
  Requests requests;
  std::optional<BudgetHold> hold;  // by a budget that is spent
  Progress progress;
  Measurements measurements;
  Recovery recovery;
  PreemptionRecord preemption;
  Account account;

  Verdict verdict;                       // newest; names no job until the first decision about it
  std::optional<PlannedTarget> planned;  // by a policy for the whole cluster, while its plan counts with the job

  [[nodiscard]] JobState state() const { return phase.state(); }
  [[nodiscard]] int size() const { return membership.size(); }
};

}  // namespace tidepool::core
