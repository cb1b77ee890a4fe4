#include "core/decide/reconcile/line_order.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/decide/claimants.hpp"
#include "core/decide/cluster_planner.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/decide/reconcile/node_clearing.hpp"
#include "core/decide/transition_planner.hpp"
#include "core/decide/waiting_line.hpp"
#include "core/tenants/preemption_limits.hpp"

namespace tidepool::core {
namespace {

// Of the line those whose claims guarantees cover, one after another in the plan's order; none where preemptions of the
// pool have no limit.
IdSet<JobId> within_guarantees(const DecisionDraft& draft, const std::vector<TargetedJob>& line) {
  PreemptionLimits limits(draft.state(), draft.now());
  IdSet<JobId> jobs;
  if (!limits.left()) return jobs;
  std::vector<TargetedJob> in_order = line;
  std::sort(in_order.begin(), in_order.end(), [](const TargetedJob& a, const TargetedJob& b) {
    return std::pair(a.target->place, a.job->id) < std::pair(b.target->place, b.job->id);
  });
  for (const TargetedJob& each : in_order) {
    const int slots = (each.target->size - each.job->size()) * each.job->spec.gpus_per_worker;
    if (slots <= 0 || limits.covered(*each.job) < slots) continue;
    jobs.insert(each.job->id);
    limits.keep_for({*each.job, slots});
  }
  return jobs;
}

}  // namespace

std::vector<TargetedJob> line_of(DecisionDraft& draft, const IdSet<JobId>& to_reconcile) {
  std::vector<TargetedJob> line;
  for (const JobId id : to_reconcile) {
    const Job& job = *draft.state().find_job(id);
    const Target* target = draft.planned_target(job);
    const bool has_rule = job.state() != JobState::kPending && !draft.follows_plan(job);
    if (target == nullptr || has_rule || draft.ends(id) || !counts(job, draft.now())) continue;
    if (needs_reconcile(job, *target)) line.push_back({&job, target});
  }
  IdSet<JobId> guaranteed;
  for (const TargetedJob& each : line) {
    if (draft.type_guarantees().are_claimed_by(*each.job)) guaranteed.insert(each.job->id);
  }
  guaranteed.insert(within_guarantees(draft, line));
  std::sort(line.begin(), line.end(), [&](const TargetedJob& a, const TargetedJob& b) {
    const auto rank = [&](const TargetedJob& any) {
      const bool is_gang_with_room = any.job->preemption.room_made && any.job->spec.gpus_per_worker > 1;
      return std::tuple(!is_cleared_for(*any.job), !is_gang_with_room, !guaranteed.contains(any.job->id),
                        any.target->place, any.job->id);
    };
    return rank(a) < rank(b);
  });
  return order_behind_claimants(std::move(line));
}

std::vector<JobId> line_of(const DecisionDraft& draft, const JobRule& rule, const IdSet<JobId>& pending) {
  std::vector<WaitingLine::Place> line;
  for (const JobId id : pending) {
    const Job& job = *draft.state().find_job(id);
    if (!is_ending(job, draft.now())) line.emplace_back(rule.rank(job), id);
  }
  std::sort(line.begin(), line.end());
  std::vector<JobId> ids;
  ids.reserve(line.size());
  for (const auto& [rank, id] : line) ids.push_back(id);
  return ids;
}

}  // namespace tidepool::core
