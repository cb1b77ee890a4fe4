#include "core/decide/cluster_planner.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/id_set.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/state/budget_hold.hpp"
#include "core/state/job_state.hpp"
#include "core/tenants/preemption_limits.hpp"

namespace tidepool::core {
namespace {

bool may_be_given(const Job& job, int size) {
  const auto& sizes = job.spec.elastic.sizes;
  if (size != 0 && !std::binary_search(sizes.begin(), sizes.end(), size)) return false;
  if (is_shrunk(job) && size > sizes.front() && size != job.size()) return false;
  const bool waits = job.state() == JobState::kPending || job.state() == JobState::kSuspending;
  return job.requests.pinned_size == 0 || size == job.requests.pinned_size ||
         (waits && size < job.requests.pinned_size);
}

bool goes_on(const DecisionDraft& draft, const Job& job) {
  return counts(job, draft.now()) && !draft.ends(job.id);
}

Error wrong(const std::string& what) {
  return {ErrorCode::kInternal, what};
}

// The job's target is still valid, so a partial plan need not name it.
bool stands(const Job& job, Instant now) {
  return job.planned && may_be_given(job, job.planned->target.size) && !inputs_have_changed(job, now);
}

// What a job keeps when the policy's answer was dropped: its target, unless its user has asked for something else
// since.
Target standing(const Job& job) {
  if (job.planned && may_be_given(job, job.planned->target.size)) return job.planned->target;
  const int size = job.requests.pinned_size > 0 ? job.requests.pinned_size : allowed_size(job, job.size());
  return {.size = job.membership.members.empty() ? 0 : size, .reason = reason::PolicyFailed{}};
}

// The answer may name only jobs that it was asked about, each with 0 or an allowed size; a running job with a pinned
// size has that.
Status check_named(const DecisionDraft& draft, const PlanScope& scope, const PlanAnswer& answer) {
  for (const auto& [id, target] : answer.targets) {
    const Job* job = draft.state().find_job(id);
    if (!scope.candidates.contains(id) || !goes_on(draft, *job)) {
      return wrong("the plan sizes " + id.text() + ", which is not asked");
    }
    if (!may_be_given(*job, target.size)) {
      return wrong("the plan gives " + id.text() + " a size that it may not have: " + std::to_string(target.size));
    }
  }
  return ok_status();
}

// All candidates, or of a partial plan those that it names and those that may have left it.
IdSet<JobId> concerned_jobs(const PlanScope& scope, const PlanAnswer& answer) {
  if (answer.whole) return scope.candidates;
  IdSet<JobId> jobs;
  for (const JobId id : scope.looked_at) {
    if (scope.candidates.contains(id)) jobs.insert(id);
  }
  for (const auto& [id, target] : answer.targets) jobs.insert(id);
  return jobs;
}

// Adds what is new for the job. If only words are, its place and inputs stay: words do not move a job in the order, nor
// do they renew what its plan rests on.
void add_news(const Job& job, Target next, Instant now, std::vector<TargetChange>& changes) {
  if (is_shrunk(job) && next.size == job.spec.elastic.sizes.front()) next.reason = why_shrunk(job);
  const News news = news_of(job, next, now);
  if (news == News::kNone) return;
  if (news == News::kWords) next.place = job.planned->target.place;
  changes.push_back({.job = job.id, .now = std::move(next), .words_only = news == News::kWords});
}

// What the answer changes, by job. A whole plan names every job that counts, a partial one at least those looked at
// whose target cannot stand. Each job is looked at once: that is most of what a plan costs that changes little. Moves
// the targets out of the answer.
Result<std::vector<TargetChange>> changes_by(const DecisionDraft& draft, const PlanScope& scope, PlanAnswer& answer) {
  TP_TRY(check_named(draft, scope, answer));
  std::vector<TargetChange> changes;
  for (const JobId id : concerned_jobs(scope, answer)) {
    const Job& job = *draft.state().find_job(id);
    if (!goes_on(draft, job)) {
      if (job.planned) changes.push_back({.job = id, .now = std::nullopt});
      continue;
    }
    const auto named = answer.targets.find(id);
    if (named != answer.targets.end()) {
      add_news(job, std::move(named->second), draft.now(), changes);
    } else if (answer.whole || !stands(job, draft.now())) {
      return wrong("the plan gives " + id.text() + " no size, not even none");
    } else if (job.planned->inputs.resize_blocked != resize_is_blocked(job, draft.now())) {
      changes.push_back({.job = id, .now = job.planned->target});
    }
  }
  return changes;
}

// What stands when there is no lawful answer.
std::vector<TargetChange> changes_without_answer(const DecisionDraft& draft, const PlanScope& scope) {
  std::vector<TargetChange> changes;
  for (const JobId id : scope.candidates) {
    const Job& job = *draft.state().find_job(id);
    if (goes_on(draft, job)) {
      add_news(job, standing(job), draft.now(), changes);
    } else if (job.planned) {
      changes.push_back({.job = id, .now = std::nullopt});
    }
  }
  return changes;
}

constexpr std::size_t kSparedMost = 8;  // that are tried in one plan; each costs a further plan

// What an answer comes to, in slots, and the running jobs that it would preempt but that may not be.
struct Outcome {
  std::int64_t given = 0;
  std::int64_t more = 0;  // than jobs hold, of those that are to have more
  std::int64_t barred_slots = 0;
  IdSet<JobId> barred;
};

Outcome outcome_of(const PlanRequest& request, const PlanAnswer& answer) {
  const ClusterState& state = request.view.state;
  Outcome outcome;
  for (const JobId id : request.jobs) {
    const Job& job = *state.find_job(id);
    if (!request.counts(job)) continue;
    const auto named = answer.targets.find(id);
    const Target* target = named != answer.targets.end() ? &named->second
                           : job.planned                 ? &job.planned->target
                                                         : nullptr;
    if (target == nullptr) continue;
    const std::int64_t each = job.spec.gpus_per_worker;
    outcome.given += target->size * each;
    outcome.more += std::max(0, target->size - job.size()) * each;
    const bool loses_all = target->size == 0 && job.size() > 0;
    if (!loses_all || !is_spared(state, job, request.view.now)) continue;
    outcome.barred.insert(id);
    outcome.barred_slots += job.size() * each;
  }
  return outcome;
}

bool gives_as_much(const PlanRequest& request, const Outcome& before, const Outcome& now) {
  const bool fits = !request.slots_most || now.given <= std::max<std::int64_t>(before.given, *request.slots_most);
  return fits && now.more >= before.more && now.barred_slots < before.barred_slots;
}

// What an earlier plan shared out is so no more.
std::vector<TenantChange> no_shares(const ClusterState& state) {
  std::vector<TenantChange> changes;
  changes.reserve(state.plan.tenants.size());
  for (const auto& [tenant, plan] : state.plan.tenants) changes.push_back({.tenant = tenant, .now = std::nullopt});
  return changes;
}

}  // namespace

Result<PlanAnswer> plan_sparing(Planner& planner, PlanRequest request, StepBudget& budget) {
  Result<PlanAnswer> best = planner.plan(request, budget);
  if (!best || request.typed_most != nullptr) return best;
  Outcome outcome = outcome_of(request, *best);
  IdSet<JobId> spared;
  bool is_newest = true;
  std::size_t tried = 0;
  for (const JobId id : IdSet<JobId>(outcome.barred)) {
    if (!outcome.barred.contains(id)) continue;
    if (tried++ == kSparedMost) break;
    IdSet<JobId> more = spared;
    more.insert(id);
    request.spared = &more;
    Result<PlanAnswer> other = planner.plan(request, budget);
    const Outcome then = other ? outcome_of(request, *other) : Outcome{};
    is_newest = other && gives_as_much(request, outcome, then);
    if (!is_newest) continue;
    best = std::move(other);
    outcome = then;
    spared = std::move(more);
  }
  if (is_newest) return best;
  request.spared = &spared;
  return planner.plan(request, budget);
}

IdSet<JobId> plan_cluster(DecisionDraft& draft, Planner& planner, const PlanScope& scope) {
  const std::function<bool(const Job&)> counted = [&](const Job& job) { return goes_on(draft, job); };
  const std::function<bool(const Job&)> has_own_policy = [&](const Job& job) { return !draft.follows_plan(job); };
  const PlanRequest request{draft.view(),   scope.candidates, scope.looked_at,        counted,
                            has_own_policy, scope.nodes,      draft.state().plan.mark};
  // A tenant's planner protects its jobs itself.
  const bool spares = !draft.parts().tenants_share(draft.state()) && may_spare(*draft.state().tenants);
  Result<PlanAnswer> answer =
      spares ? plan_sparing(planner, request, draft.budget()) : planner.plan(request, draft.budget());
  auto changes = answer ? changes_by(draft, scope, *answer) : Result<std::vector<TargetChange>>(answer.error());
  Replan replan{.changes = {}, .mark = draft.state().plan.mark, .wake = {}, .error = {}};
  if (changes) {
    replan = {.changes = *std::move(changes),
              .mark = answer->mark,
              .wake = answer->wake,
              .error = {},
              .tenants = answer->by_tenants ? std::move(answer->tenants) : no_shares(draft.state()),
              .counts_loans = answer->counts_loans};
  } else {
    replan.error = changes.error().message;
    replan.changes = changes_without_answer(draft, scope);
  }
  IdSet<JobId> changed;
  for (const TargetChange& change : replan.changes) changed.insert(change.job);
  draft.set_replan(std::move(replan));
  return changed;
}

News news_of(const Job& job, const Target& next, Instant now) {
  if (!job.planned) return News::kPlan;
  const Target& before = job.planned->target;
  const bool moves = before.place != next.place && needs_reconcile(job, next);
  if (before.size != next.size || before.mark != next.mark || before.unasked != next.unasked || moves) {
    return News::kPlan;
  }
  if (inputs_have_changed(job, now) || job.planned->inputs.resize_blocked != resize_is_blocked(job, now))
    return News::kPlan;
  return says_the_same(before.reason, next.reason) ? News::kNone : News::kWords;
}

bool is_news(const Job& job, const Target& next, Instant now) {
  return news_of(job, next, now) != News::kNone;
}

bool needs_reconcile(const Job& job, const Target& target) {
  if (job.state() == JobState::kPending) return target.size > 0;
  return is_active(job.state()) && job.size() != target.size;
}

}  // namespace tidepool::core
