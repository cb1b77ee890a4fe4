// One job as the engine stores it, in named parts: membership, requests, progress, measurements, recovery, account.
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

// Two sizes compared: the last rate at one size before a change, and the first rate at the other size after it.
// Anything else that makes a job faster or slower over time affects both rates.
struct SizeChange {
  int from = 0;          // workers; 0 = this size was never reached from another size
  double from_rate = 0;  // samples a second at that size
  // And at this size, until the cooldown was over or scaling.every_steps were measured, whichever is later
  double rate = 0;
  Duration over;  // how long that was measured
  Instant at;     // when the change took effect
};

// What has been measured at one size.
struct SizeRecord {
  std::int64_t steps = 0;         // steps measured at this size, without the first after each switch
  double step_seconds = 0;        // mean; recent measurements have more weight (see throughput.hpp)
  double samples_per_second = 0;  // mean, with the same weights
  Instant measured_at;            // last measurement
  SizeChange entered;             // newest
};

// The length of the whole training as its program reported it, in steps or in samples; neither if the program does not
// know it.
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

// What changes of size have cost this job so far, by kind: at all sizes, and by class of the size reached
// (type_records.hpp).
struct TransitionCost {
  std::int64_t count = 0;
  double mean_stall_ms = 0;
  std::map<int, SizeCost> by_size = {};
};

// How long this job's workers took from their start until they were ready, by the size that the job reached with them.
struct BootCost {
  std::int64_t count = 0;
  double mean_ms = 0;
  std::map<int, SizeCost> by_size = {};
};

// How the newest generation came about.
struct Commit {
  Instant at;
  Reason reason;
  bool replaces = false;       // one worker took the place of another
  int from_size = 0;           // size at the last switch; 0 = first generation since a start
  bool after_failure = false;  // survivors continued without a dead member
};

// The progress of the newest generation of a job in ResizeMode::kRestart. Each worker keeps its slots from one
// generation to the next, while its agent ends the program of the old generation and starts the program of the new one.
struct RestartState {
  GenerationNumber launched = 0;  // newest generation whose programs were ordered to start
  std::optional<Instant> launched_at;
  WorkerId failed;  // the worker whose program failed in the newest generation, so that all programs are restarted
  NodeId home;      // where rank 0 last ran, and with it a checkpoint folder that is not shared
};

// A copy of the job's state that outlives its workers.
struct SavedState {
  std::int64_t step = 0;     // committed steps in it
  std::int64_t samples = 0;  // of those steps, as far as they were reported
  NodeId node;               // where it was written, or the node to which it was brought later
  Instant at;
  std::int64_t bytes = 0;  // 0 = not reported
  NodeId origin;           // the node where it was written, which also still has it; none: it is only on `node`
};

// Checkpoints that were due since the newest one, or since the start, and could not be taken.
struct CheckpointFailure {
  std::int64_t step = 0;  // of the newest
  std::int64_t times = 0;
  Instant at;
  std::string detail;
  bool operator==(const CheckpointFailure&) const = default;
};

// The job's newest saved state is being brought to the node where the job starts. Workers that start there wait for it.
struct StateMove {
  std::int64_t step = 0;
  NodeId from;
  NodeId to;
  Instant since;
  bool operator==(const StateMove&) const = default;
};

// How the samples of a step are split: rank r gets weights[r] parts of their total.
struct SampleWeights {
  std::int64_t number = 0;            // counts the orders within a generation; 0 = even shares
  std::vector<std::int64_t> weights;  // by rank, 1 to kFullShare; empty = even shares
  bool operator==(const SampleWeights&) const = default;
};
// The weight of a worker that is not slow.
inline constexpr std::int64_t kFullShare = 1'000;

// A slow worker that got a smaller share instead of being replaced.
struct BatchRebalance {
  std::int64_t weight = kFullShare;
  double lost_s = 0;  // slot-seconds that its slowness has cost the other workers, before and since
  double idle_s = 0;  // slot-seconds that it recently waited for the others: its share has become too small
};

// How often the changes of a worker's share reversed direction, from growing to shrinking or back. A change in the same
// direction as the one before halves the count.
struct ShareTurns {
  bool grew = false;  // the newest change enlarged the share
  int count = 0;
  bool operator==(const ShareTurns&) const = default;
};

// What the newest plan for the whole cluster gives the job, and the inputs it is based on: when they change, a new plan
// is made (plan_inputs.hpp).
struct PlanInputs {
  std::uint64_t asked = 0;             // digest of the user's requests
  bool resize_blocked = false;         // the job's size could not change at that time
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
  std::optional<UnusedState> unused_state;  // reported with the newest switch
  Commit commit;
  // The generation of the newest reports, and its size: `generation`, or the one before it while `generation` has not
  // been switched to. 0 = none since the last start.
  GenerationNumber stepping_generation = 0;
  int stepping_size = 0;
  bool parking = false;  // `generation` has no members: the remaining workers save the state and leave
  RestartState restart_state;
  std::vector<WorkerId> workers;  // every worker that still holds slots, ascending
  // The members of `generation` when the last of them was lost with its node. They may still step: if all of them
  // return before the job has restarted, the job continues with them. Empty: none can return.
  std::vector<WorkerId> on_lost_nodes;

  [[nodiscard]] int size() const { return static_cast<int>(members.size()); }
};

// How the samples of a step are split among the members (rebalance_planner.hpp). Valid within one generation only: each
// generation begins with even shares.
struct SampleShares {
  SampleWeights ordered;                          // newest order
  SampleWeights used;                             // by which the members step, as far as they have reported
  bool awaited = false;                           // the newest decision ordered weights that are not in use yet
  std::map<WorkerId, BatchRebalance> rebalanced;  // members with less than a full share
  std::map<WorkerId, ShareTurns> turns;           // members whose share was changed
};

// The requests of the job's user, in addition to its specification.
struct Requests {
  int pinned_size = 0;  // 0 = none
  bool cancel = false;
  bool suspend = false;
  bool checkpoint = false;  // requested, and none has been reported since
};

// How far the training has progressed, as its program reports it.
struct Progress {
  std::int64_t step = 0;
  std::int64_t samples = 0;
  std::int64_t epoch = 0;
  ProgramLength length;                // newest reported; job_work.hpp computes what is left
  std::optional<Instant> reported_at;  // newest report of steps
  std::optional<Instant> late_at;      // when it is late, by the first near end reported since the switch
  double first_loss = 0;
  double last_loss = 0;
  std::int64_t global_batch = 0;              // samples a step, from the newest report; 0 = not reported
  std::optional<double> noise_scale;          // of the gradient, in samples, from the newest report that had it
  std::optional<std::int64_t> audited_epoch;  // newest since the last start; an audit may be reported twice
  std::optional<Instant> audits_told_to;      // events of sound audits: their rate is used up until this time
  std::int64_t audits_untold = 0;             // sound audits without an event, which the next such event counts too
  bool finished = false;                      // has reported its end; waits for the exits
};

// What was measured of the job on slots of one type: its speed, and the costs of its changes.
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

// The job's own records are those of the slot type on which it runs or last ran; records of other types are stored
// separately until the job runs there again (type_records.hpp).
struct Measurements : TypeRecords {
  std::string slot_type;  // on which its own records were measured; empty = unknown, or nothing was measured yet
  std::map<std::string, TypeRecords> on_other_types;
  std::int64_t steps_since_switch = 0;                     // measured at the present generation
  std::map<WorkerId, std::vector<double>> detector_state;  // the straggler detector's state for each member
};

// Losses of workers, and what the job continues from after them.
struct Recovery {
  std::optional<SavedState> suspended;   // newest state that was saved when the job released its workers
  std::optional<SavedState> checkpoint;  // newest checkpoint reported
  std::optional<CheckpointFailure> checkpoint_failure;
  std::optional<Instant>
      waits_near_since;  // since when it waits for room on the node with its state, although other nodes have room
  std::optional<StateMove> moving;  // only while the job starts
  // Members that exited with 0 before rank 0 reported the end: the report may still arrive.
  std::vector<WorkerId> unconfirmed_exits;
  std::optional<Instant> unconfirmed_since;
  bool ended_badly = false;               // after the end of training, a member's program failed
  bool misconfigured = false;             // before its first step a program reported that its own settings are wrong
  bool cooldown_waived = false;           // a member was lost: the job may grow back without waiting
  int restarts = 0;                       // losses of workers so far; workers lost together count once
  std::optional<std::int64_t> lost_step;  // newest step reported at the newest loss; none: none since the start
  int lost_there = 0;                     // consecutive losses after that step
  std::optional<Instant> lost_start;      // newest start during which booting workers were lost, which counted once
  int replacements = 0;                   // replacements of stragglers in the present series (straggler_patience.hpp)
  bool shrunk_for_straggler = false;      // it removed a straggler since its last change of size for another reason
  std::optional<Instant> last_replacement_at;
  std::string last_error;  // how the newest lost worker ended
};

// The job's total use at the end of a day in UTC, for each day in which it held slots.
struct DayMark {
  std::int64_t day = 0;  // days since 1970
  Duration slot_time;
  Money cost;
  Overheads overheads = {};  // the overhead part of it
};

// When the state from which a restart would continue was saved.
struct SavedMark {
  std::int64_t step = 0;
  Used useful;       // useful time and cost by then
  int restarts = 0;  // Recovery::restarts when the job last began to step
  // What the job had lost to preemption when it last saved its state while releasing its slots: only later losses
  // indicate that it may save too late.
  Duration lost_at_leave = {};
};

// What the job has used, charged up to a time (account.hpp).
struct Account {
  Instant charged_until;
  Duration slot_time;  // slots x time held
  Money cost;
  std::int64_t cost_remainder = 0;  // of cost, in millionths x microseconds / hour, so that sums are exact
  std::vector<DayMark> days;        // ascending
  Overheads overheads;              // parts of the totals above (ledger.hpp)
  std::int64_t boot_remainder = 0;  // of the cost of Overhead::kBootAndResize, in the same unit
  SavedMark saved;
};

// The job's program was asked to leave for another job, and may refuse.
struct LeaveQuestion {
  JobId for_job;
  DecisionId decision;  // the decision that asked; the notices of the job's workers belong to it
  Instant answer_by;
  bool yields = false;  // it has answered, and does not refuse
};

// The job released slots for another job, and is behind that job in line until it has had them.
struct ReleasedSlots {
  JobId for_job;
  Instant at;
};

// The input of the limits on preemption (tenants/preemption_limits.hpp) and of the waiting line.
struct PreemptionRecord {
  std::optional<Instant> pending_since;  // when it last began to wait again; none = since it was submitted
  std::vector<Instant> times;            // its newest preemptions for other jobs, as many as a limit needs
  bool room_made = false;                // others were preempted for it, and it has not started or grown since
  std::optional<LeaveQuestion> asked;    // newest question that it has not refused
  std::optional<Instant> refused_until;  // its program has refused to leave
  std::vector<ReleasedSlots>
      released_slots;  // by shrinking or preemption; the other job may have had some of them since
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
  std::optional<BudgetHold> hold;  // by a spent budget
  Progress progress;
  Measurements measurements;
  Recovery recovery;
  PreemptionRecord preemption;
  Account account;

  Verdict verdict;                       // newest; names no job until the first decision about it
  std::optional<PlannedTarget> planned;  // by a policy for the whole cluster, while its plan includes the job

  [[nodiscard]] JobState state() const { return phase.state(); }
  [[nodiscard]] int size() const { return membership.size(); }
};

}  // namespace tidepool::core
