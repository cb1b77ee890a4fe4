// What is done with one worker or happened to it, and why a job ended.
#pragma once

#include <optional>
#include <string>

#include "core/state/reasons/parts.hpp"
#include "core/state/reasons/straggler_cause.hpp"

namespace tidepool::core::reason {

// The facts about a slow worker at that time (straggler_planner.hpp).
struct SlowWorker {
  WorkerId worker = {};
  double score = 0;      // its speed relative to the others
  double threshold = 0;  // below this score it is slow
  double waited_s = 0;   // cost of waiting for it so far, in slot-seconds
  double cost_s = 0;     // cost of the next action, in slot-seconds; 0 = none is possible
  Follows follows = Follows::kUnknown;
  int node_peers = 0;  // other workers on its node
  int node_slow = 0;   // how many of them are slow
  NodeId node = {};
  double node_speed = 0;  // relative to the expected speed; 0 = not measured
  bool operator==(const SlowWorker&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("worker", self.worker, kIdentity), at("score", self.score), at("threshold", self.threshold);
    at("waited_s", self.waited_s), at("cost_s", self.cost_s), at("follows", self.follows);
    at("node_peers", self.node_peers), at("node_slow", self.node_slow);
    at("node", self.node), at("node_speed", self.node_speed);
  }
};

// Waiting for it has cost less so far than an action would cost.
struct StragglerWatched : SlowWorker {
  std::optional<bool> by_share = {};  // whether the next action would be a smaller share
  static constexpr Traits kTraits{"StragglerWatched", ReasonCategory::kHolding};
  bool operator==(const StragglerWatched&) const = default;
  static constexpr void fields(auto& self, auto&& at) { SlowWorker::fields(self, at), at("by_share", self.by_share); }
};
// The slowness is not caused by the worker or its node: no action would help.
struct StragglerInData : SlowWorker {
  static constexpr Traits kTraits{"StragglerInData", ReasonCategory::kHolding};
};
// The worker has a smaller share of each step, and its slowness has cost less so far than a replacement would cost.
struct StragglerEased : SlowWorker {
  double share = 0;  // relative to a full share
  static constexpr Traits kTraits{"StragglerEased", ReasonCategory::kHolding};
  bool operator==(const StragglerEased&) const = default;
  static constexpr void fields(auto& self, auto&& at) { SlowWorker::fields(self, at), at("share", self.share); }
};
// The worker gets a smaller share of each step.
struct StragglerRebalanced : SlowWorker {
  double share = 0;
  double was = 0;
  static constexpr Traits kTraits{"StragglerRebalanced", ReasonCategory::kWorker};
  bool operator==(const StragglerRebalanced&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    SlowWorker::fields(self, at), at("share", self.share), at("was", self.was);
  }
};
struct StragglerReplaced : SlowWorker {
  static constexpr Traits kTraits{"StragglerReplaced", ReasonCategory::kWorker};
};
// Removed: no slot is free, and the others are faster without it.
struct StragglerShrunk : SlowWorker {
  static constexpr Traits kTraits{"StragglerShrunk", ReasonCategory::kWorker};
};
// The worker should be replaced, and no slot is free; it may have a smaller share of each step.
struct StragglerNoSpare : SlowWorker {
  static constexpr Traits kTraits{"StragglerNoSpare", ReasonCategory::kWorker, Blocks::kForLackOfSlots};
};

// The shape of reasons about one worker.
struct OfWorker {
  WorkerId worker = {};
  bool operator==(const OfWorker&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("worker", self.worker, kIdentity); }
};

// The worker is faster again, and so its share becomes larger.
struct SharesRegained : OfWorker {
  double share = 0;
  double was = 0;
  static constexpr Traits kTraits{"SharesRegained", ReasonCategory::kWorker};
  bool operator==(const SharesRegained&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    OfWorker::fields(self, at), at("share", self.share), at("was", self.was);
  }
};
struct WorkerLost : OfWorker {
  int survivors = 0;
  std::optional<int> others = {};  // workers lost together with it
  static constexpr Traits kTraits{"WorkerLost", ReasonCategory::kWorker};
  bool operator==(const WorkerLost&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    OfWorker::fields(self, at), at("survivors", self.survivors), at("others", self.others);
  }
};
// Its program failed; all programs of the job are restarted.
struct ProgramFailed : OfWorker {
  int size = 0;
  int restarts = 0;
  int limit = 0;
  static constexpr Traits kTraits{"ProgramFailed", ReasonCategory::kWorker};
  bool operator==(const ProgramFailed&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    OfWorker::fields(self, at), at("size", self.size, kIdentity);
    at("restarts", self.restarts), at("limit", self.limit);
  }
};
struct BelowMinimum {
  int survivors = 0;
  int min = 0;
  static constexpr Traits kTraits{"BelowMinimum", ReasonCategory::kWorker};
  bool operator==(const BelowMinimum&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("survivors", self.survivors), at("min", self.min); }
};
// Not ready in time.
struct StartTimeout : OfWorker {
  Duration lasted = {};
  static constexpr Traits kTraits{"StartTimeout", ReasonCategory::kWorker};
  bool operator==(const StartTimeout&) const = default;
  static constexpr void fields(auto& self, auto&& at) { OfWorker::fields(self, at), at("seconds", self.lasted); }
};
// No longer in the job's generation, but still running.
struct LeftBehind : OfWorker {
  static constexpr Traits kTraits{"LeftBehind", ReasonCategory::kWorker};
};
struct WorkerStuck : OfWorker {
  std::int64_t step = 0;
  Duration lasted = {};
  static constexpr Traits kTraits{"WorkerStuck", ReasonCategory::kWorker};
  bool operator==(const WorkerStuck&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    OfWorker::fields(self, at), at("step", self.step), at("seconds", self.lasted);
  }
};
// The worker did not answer in a switch, or was the last to join a switch that hung.
struct SwitchTimeout : OfWorker {
  std::int64_t generation = 0;
  Duration lasted = {};
  static constexpr Traits kTraits{"SwitchTimeout", ReasonCategory::kWorker};
  bool operator==(const SwitchTimeout&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    OfWorker::fields(self, at), at("generation", self.generation), at("seconds", self.lasted);
  }
};
// The worker did not save its state within its grace; these steps are lost.
struct ParkTimeout : OfWorker {
  Duration grace = {};
  std::int64_t steps = 0;
  static constexpr Traits kTraits{"ParkTimeout", ReasonCategory::kWorker};
  bool operator==(const ParkTimeout&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    OfWorker::fields(self, at), at("seconds", self.grace), at("steps", self.steps);
  }
};
// The program of a job with resize: restart, whose steps the engine does not see.
struct EndTimeout : OfWorker {
  Duration grace = {};
  static constexpr Traits kTraits{"EndTimeout", ReasonCategory::kWorker};
  bool operator==(const EndTimeout&) const = default;
  static constexpr void fields(auto& self, auto&& at) { OfWorker::fields(self, at), at("seconds", self.grace); }
};
struct Preempted {
  JobId for_job = {};     // none = for no particular job
  bool restarts = false;  // it restarts at once, elsewhere: the other job needs the place of its slots, not more slots
  ShareRule rule = {};
  static constexpr Traits kTraits{"Preempted", ReasonCategory::kWorker};
  bool operator==(const Preempted&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("for_job", self.for_job), at("restarts", self.restarts), at("rule", self.rule);
  }
};
// Its tenant, or a tenant above it, may hold no more slots (docs/fairness.md), and the plan gives the excess slots to
// other jobs.
struct OverTenantLimit {
  int most = 0;           // slots that the tenant may hold
  std::string word = {};  // the tenant
  static constexpr Traits kTraits{"OverTenantLimit", ReasonCategory::kWorker};
  bool operator==(const OverTenantLimit&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("most", self.most); }
};
// Workers of the job, which are on more nodes than necessary, move to other slots, so that they are on fewer nodes.
struct MovedTogether {
  int workers = 0;  // that move
  int from_nodes = 0;
  int to_nodes = 0;
  double cost_s = 0;  // slot-seconds
  static constexpr Traits kTraits{"MovedTogether", ReasonCategory::kWorker};
  bool operator==(const MovedTogether&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("workers", self.workers), at("from_nodes", self.from_nodes), at("to_nodes", self.to_nodes);
    at("cost_s", self.cost_s);
  }
};
// The move frees room for another job on the node that this worker leaves.
struct MovedForRoom {
  JobId for_job = {};
  int size = 0;                        // size of the other job, in workers
  std::optional<int> slots_each = {};  // on one node, for each of its workers; none = they must be together
  std::optional<int> group = {};       // workers of the other job that need these slots together; none = one
  NodeId node = {};
  double cost_s = 0;      // slot-seconds
  std::string word = {};  // "rack r1": the domain in which all of them need `slots_each`; empty = they may be apart
  static constexpr Traits kTraits{"MovedForRoom", ReasonCategory::kWorker};
  bool operator==(const MovedForRoom&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("for_job", self.for_job), at("size", self.size), at("slots_each", self.slots_each), at("node", self.node);
    at("group", self.group), at("cost_s", self.cost_s);
  }
};
// Another job waits for this worker's slot type, and this job accepts other types, too.
struct MovedForType : OfWorker {
  JobId for_job = {};
  Duration waited = {};
  double cost_s = 0;  // cost of all moves for that job, in slot-seconds
  static constexpr Traits kTraits{"MovedForType", ReasonCategory::kWorker};
  bool operator==(const MovedForType&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    OfWorker::fields(self, at), at("for_job", self.for_job);
    at("waited_s", self.waited), at("cost_s", self.cost_s);
  }
};

// Why a job ended.
struct Finished {
  std::int64_t steps = 0;
  static constexpr Traits kTraits{"Finished", ReasonCategory::kEnding};
  bool operator==(const Finished&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("steps", self.steps); }
};
struct CancelledByUser : Bare {
  static constexpr Traits kTraits{"CancelledByUser", ReasonCategory::kEnding};
};
struct WorkersFailed {
  int restarts = 0;
  int limit = 0;
  std::optional<int> alike = {};          // how many of the newest losses came after the same step; none = only one
  std::optional<std::int64_t> step = {};  // that step; none = before any step was reported
  static constexpr Traits kTraits{"WorkersFailed", ReasonCategory::kEnding};
  bool operator==(const WorkersFailed&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("restarts", self.restarts), at("limit", self.limit), at("alike", self.alike), at("step", self.step);
  }
};
// How long its program may continue, to save the result of the training.
struct Finishing {
  std::int64_t steps = 0;
  Duration most = {};
  static constexpr Traits kTraits{"Finishing", ReasonCategory::kEnding};
  bool operator==(const Finishing&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("steps", self.steps), at("seconds", self.most); }
};
// Failed after the end of training: its result may not have been saved.
struct FailedAtEnd {
  std::int64_t steps = 0;
  static constexpr Traits kTraits{"FailedAtEnd", ReasonCategory::kEnding};
  bool operator==(const FailedAtEnd&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("steps", self.steps); }
};
// Its program continued for this long after the end of training.
struct FinishTimeout : OfWorker {
  Duration had = {};
  static constexpr Traits kTraits{"FinishTimeout", ReasonCategory::kEnding};
  bool operator==(const FinishTimeout&) const = default;
  static constexpr void fields(auto& self, auto&& at) { OfWorker::fields(self, at), at("seconds", self.had); }
};
struct MaxDuration {
  Duration limit = {};
  static constexpr Traits kTraits{"MaxDuration", ReasonCategory::kEnding};
  bool operator==(const MaxDuration&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("limit_s", self.limit); }
};

}  // namespace tidepool::core::reason
