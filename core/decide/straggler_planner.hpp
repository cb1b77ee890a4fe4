// What is done about a slow worker, and when: nothing at first, then it gets a smaller share of each step
// (rebalance_planner.hpp), then it is replaced, or the job shrinks without it.
//
// The rule is that of the ski rental (Karlin, Manasse, Rudolph, Sleator 1988): waiting costs a little with each step,
// an action costs once. Acting when the waiting so far has cost as much as the action never costs more than twice
// what knowing in advance how long the slowness lasts would have. FALCON (arXiv 2410.12588, section 5) escalates
// in the same way. Both costs are in slot-seconds, and what an action costs is what it has cost this job before:
//   rebalance = slots of a worker x size x mean pause of a change of shares
//   replace = slots of a worker x (mean boot time + size x mean pause of a replacement)
//   shrink  = slots of a worker x size x mean pause of a shrink  +  replace, since the size has to be won back
// A smaller share mends most of the waiting, not all of the loss: the account of a rebalanced worker goes on with what
// it still costs, the work that the others have taken over and the time that they wait, until a replacement is cheaper.
// Safe rule: the same worker must be named for kStragglerStreak steps, and after an action straggler_patience.hpp says
// when the next one may follow, so that noise cannot make a job churn.
#pragma once

#include <optional>

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

[[nodiscard]] double cost_of_replacing(const Job& job);
[[nodiscard]] double cost_of_shrinking(const Job& job);

// What a slow or rebalanced worker has cost its job so far, in slot-seconds.
[[nodiscard]] double cost_so_far(const Job& job, const Worker& worker);

// How fast a member computes, as a share of the others' speed, as all that is told of it says it.
[[nodiscard]] double speed_of(const ClusterState& state, const Job& job, const Worker& worker);

struct StragglerPlan {
  bool acted = false;                             // the plan has an intent for this job
  bool needs_slot = false;                        // free slots elsewhere are wanted for a replacement
  std::optional<RebalanceIntent> rebalance = {};  // to be carried out if the job keeps its members, for `reason`
  bool weights_ordered = false;       // members do not go by their newest shares yet: nothing new is to be said
  std::optional<Reason> reason = {};  // what was found, if a worker is slow
  WorkerId straggler = {};            // that worker
};

// For a job that can change now. `may_resize`: no cooldown is under way; a change of shares asks for none.
[[nodiscard]] StragglerPlan plan_straggler(DecisionDraft& draft, const Job& job, bool may_resize);

// What is told of a slow worker, as it is now. `cost_s` is that of the next action; 0 = none is possible.
[[nodiscard]] reason::SlowWorker slow_worker(const ClusterState& state, const Worker& worker, double cost_s);

}  // namespace tidepool::core
