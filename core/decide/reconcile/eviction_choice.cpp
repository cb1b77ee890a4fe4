#include "core/decide/reconcile/eviction_choice.hpp"

#include <algorithm>
#include <vector>

#include "core/decide/open_slots.hpp"
#include "core/decide/reconcile/cleared_gang.hpp"
#include "core/decide/size_planner.hpp"
#include "core/place/move_costs.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/node_constraints.hpp"

namespace tidepool::core {
namespace {

// Ascending.
std::vector<WorkerId> sorted_members(const Job& job) {
  std::vector<WorkerId> members = job.membership.members;
  std::sort(members.begin(), members.end());
  return members;
}

}  // namespace

EvictionChoice::EvictionChoice(DecisionDraft& draft, const Job& waiting, PreemptionLimits& limits)
    : draft_(draft), waiting_(waiting), limits_(limits), gang_(*cleared_size(waiting.spec)) {}

EvictionKind EvictionChoice::of(const Worker& worker) {
  if (worker.is_gone() || comes_free(draft_.state(), worker, draft_.leaving_workers())) return EvictionKind::kStays;
  const auto [way, is_first] = known_.try_emplace(worker.job);
  if (is_first) way->second = of(*draft_.state().find_job(worker.job));
  return way->second;
}

int EvictionChoice::together() const {
  return is_in_wide_domain(waiting_.spec) ? claim().slots : gang_.slots_each;
}

EvictionKind EvictionChoice::of(const Job& job) const {
  const bool is_bound = has_gang_rule(job.spec) || job.spec.scaling.price_cap;
  if (job.spec.gpus_per_worker >= together() || is_bound) return EvictionKind::kStays;
  if (!can_change(draft_, job) || draft_.alters(job.id) || job.membership.workers != sorted_members(job)) {
    return EvictionKind::kStays;
  }
  if (can_hand_on(job) && !cools_down(draft_, job)) return EvictionKind::kMoves;
  const bool outranks = job.spec.tenant == waiting_.spec.tenant && job.spec.priority > waiting_.spec.priority;
  if (outranks || !draft_.follows_plan(job) || job.requests.pinned_size > 0) return EvictionKind::kStays;
  if (preemption_barred(draft_, job) || ends_soon(job, draft_.now())) return EvictionKind::kStays;
  if (limits_.allows_refusal(claim(), job)) return EvictionKind::kStays;  // it could go on where it is
  return limits_.allow(claim(), job) ? EvictionKind::kStartsAgain : EvictionKind::kStays;
}

}  // namespace tidepool::core
