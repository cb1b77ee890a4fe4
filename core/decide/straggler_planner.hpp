// What to do about a slow worker, and when: nothing at first, then a smaller share of each step
// (rebalance_planner.hpp), then a replacement, or the job shrinks without it.
//
// The rule is that of the ski rental (Karlin, Manasse, Rudolph, Sleator 1988): waiting costs a little with each step,
// an action costs once. Acting when the waiting has cost as much as the action never costs more than twice the cost of
// knowing in advance how long the slowness lasts. FALCON (arXiv 2410.12588, section 5) escalates in the same way. Both
// costs are in slot-seconds, and the cost of an action is what it has cost this job before:
//   rebalance = slots of a worker x size x mean pause of a change of shares
//   replace = slots of a worker x (mean boot time + size x mean pause of a replacement)
//   shrink = slots of a worker x size x mean pause of a shrink + replace, since the size must be regained
// A smaller share removes most of the waiting, but not all of the loss: the account of a rebalanced worker continues
// with its remaining cost, the work that the others have taken over and the time that they wait, until a replacement is
// cheaper. Safe rule: the same worker must be reported for kStragglerStreak steps, and after an action
// straggler_patience.hpp says when the next one may follow, so that noise cannot cause repeated changes.
#pragma once

#include <optional>

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

[[nodiscard]] double cost_of_replacing(const Job& job);
[[nodiscard]] double cost_of_shrinking(const Job& job);

// The cost of a slow or rebalanced worker to its job so far, in slot-seconds.
[[nodiscard]] double cost_so_far(const Job& job, const Worker& worker);

// The compute speed of a member as a share of the others' speed, from all its reports.
[[nodiscard]] double speed_of(const ClusterState& state, const Job& job, const Worker& worker);

struct StragglerPlan {
  bool acted = false;                             // the plan has an intent for this job
  bool needs_slot = false;                        // a replacement needs free slots elsewhere
  std::optional<RebalanceIntent> rebalance = {};  // carried out if the job keeps its members, for `reason`
  bool weights_ordered = false;                   // members do not use their newest shares yet: no new verdict
  std::optional<Reason> reason = {};              // the verdict, if a worker is slow
  WorkerId straggler = {};                        // that worker
};

// For a job that can change now. `may_resize`: no cooldown is active; a change of shares does not need that.
[[nodiscard]] StragglerPlan plan_straggler(DecisionDraft& draft, const Job& job, bool may_resize);

// The reason data for a slow worker at present. `cost_s` is the cost of the next action; 0 = no action is possible.
[[nodiscard]] reason::SlowWorker slow_worker(const ClusterState& state, const Worker& worker, double cost_s);

}  // namespace tidepool::core
