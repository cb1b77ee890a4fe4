// A decision is a value: what should change, why, and which alternatives lost. It is computed without
// effects, validated, journaled, and only then carried out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "schedulerd/core/reason.hpp"

namespace tidepool::core {

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
  std::vector<WorkerPlacement> newcomers;
};
// Adds workers to a running job.
struct GrowIntent {
  JobId job;
  std::vector<WorkerPlacement> newcomers;
};
// Takes members out of a running job at its next switch.
struct ShrinkIntent {
  JobId job;
  std::vector<WorkerId> leavers;
};
// One in, one out: the newcomer is started first; the leaver goes when it is ready.
struct ReplaceIntent {
  JobId job;
  WorkerPlacement newcomer;
  WorkerId leaver;
};
// Commits generation `number`: these members, in rank order. Follows from the state alone: all
// newcomers are ready, or a member has died.
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
// no members: who is in the job keeps the state and leaves, within its grace.
struct PreemptIntent {
  JobId job;
  GenerationNumber number = 0;  // 0 = nothing to keep: nobody has stepped since the last start
  bool after_failure = false;   // there is no step to agree on; every survivor keeps what it has
};
// Ends one worker process: with notice until `grace` has passed, then by force.
struct StopWorkerIntent {
  JobId job;
  WorkerId worker;
  Duration grace;
};
// Ends a job: its workers are stopped and it takes a final state.
enum class JobEnd { kSucceeded, kFailed, kCancelled };
struct EndJobIntent {
  JobId job;
  JobEnd end = JobEnd::kFailed;
};

using Intent = std::variant<StartIntent, GrowIntent, ShrinkIntent, ReplaceIntent, SwitchIntent, LaunchIntent,
                            PreemptIntent, StopWorkerIntent, EndJobIntent>;

[[nodiscard]] JobId job_of(const Intent& intent);
[[nodiscard]] std::string_view name_of(const Intent& intent);  // "start", "grow", "switch", ...

struct PlannedIntent {
  Intent intent;
  Reason reason;
};
using Plan = std::vector<PlannedIntent>;

// A size that was weighed and not taken.
struct Alternative {
  int size = 0;
  double score = 0;  // in the policy's own measure; larger is better
  Reason reason;
};

// What the round found about one job, with or without an intent.
struct Verdict {
  JobId job;
  Reason reason;
  std::vector<Alternative> lost;  // best first, at most 4
};

struct Decision {
  DecisionId id;  // none while the plan and the verdicts are empty
  Instant at;
  std::string policy;  // name of the policy that ranked
  std::uint64_t inputs_digest = 0;
  Plan plan;
  std::vector<Verdict> verdicts;   // only those that say something else than the stored one
  std::int64_t steps_counted = 0;  // work done, in counted steps

  // Nothing to carry out and nothing new to say: not journaled.
  [[nodiscard]] bool empty() const { return plan.empty() && verdicts.empty(); }
};

}  // namespace tidepool::core
