#include "core/decide/reconcile/share_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/id_set.hpp"
#include "core/tenants/guarantee_room.hpp"

namespace tidepool::core {
namespace {

// The job that receives the slots, the first in line; none: the intent releases none, or for no particular job.
JobId first_claimant(const Intent& intent) {
  if (const auto* shrinks = std::get_if<ShrinkIntent>(&intent)) {
    return shrinks->for_jobs.empty() ? JobId() : shrinks->for_jobs.front();
  }
  const auto* preempts = std::get_if<PreemptIntent>(&intent);
  return preempts == nullptr ? JobId() : preempts->for_job;
}

int workers_added(const Intent& intent) {
  if (const auto* starts = std::get_if<StartIntent>(&intent)) return static_cast<int>(starts->joining_workers.size());
  const auto* grows = std::get_if<GrowIntent>(&intent);
  return grows == nullptr ? 0 : static_cast<int>(grows->joining_workers.size());
}

class ShareRules {
 public:
  explicit ShareRules(const DecisionDraft& draft)
      : draft_(draft), tree_(*draft.state().tenants), before_(draft.state()), given_(before_) {
    for (const PlannedIntent& planned : draft.plan()) {
      const int workers = workers_added(planned.intent);
      if (workers > 0) give(*draft.state().find_job(job_of(planned.intent)), workers);
    }
  }

  [[nodiscard]] reason::ShareRule between(const Job& victim, const Job& claimant) {
    const Tenant* gives = tree_.find(victim.spec.tenant);
    const TenantPlan* plan = draft_.tenant_plan(victim.spec.tenant);
    const bool has_too_much =
        gives != nullptr && plan != nullptr && !plan->satisfied && before_.held(gives->name) > plan->entitled;
    if (!has_too_much) return {};
    if (is_guaranteed(claimant, victim)) return {.by_guarantee = true};
    if (has_borrowed_too_much(victim, claimant)) return {.by_borrow = true};
    const auto& answer = draft_.state().deployment.answer;
    const bool by_claims = answer && !answer->claims.empty();  // of a policy file, which has words of its own
    return {.by_weight = !by_claims};
  }

 private:
  void give(const Job& job, int workers) {
    given_.add(job.spec.tenant, std::int64_t{workers} * job.spec.gpus_per_worker);
  }

  // The victim's tenant, or one above it that is not above the claimant's, holds more than it may.
  [[nodiscard]] bool has_borrowed_too_much(const Job& victim, const Job& claimant) const {
    const auto above_both = tree_.path_to(claimant.spec.tenant);
    const auto path = tree_.path_to(victim.spec.tenant);
    return std::any_of(path.begin(), path.end(), [&](const Tenant* each) {
      const bool is_shared = std::find(above_both.begin(), above_both.end(), each) != above_both.end();
      return !is_shared && each->borrow && before_.held(each->name) > std::int64_t{each->guarantee} + *each->borrow;
    });
  }

  // A guarantee that is none of the victim's covers what the claimant is to have more, or a part of it.
  bool is_guaranteed(const Job& claimant, const Job& victim) {
    look_at(claimant);
    const auto [known, is_new] = guaranteed_.try_emplace({claimant.id, victim.spec.tenant}, false);
    if (is_new) known->second = given_.beside(claimant.spec.tenant, victim.spec.tenant) > 0;
    return known->second;
  }

  // What the claimant before it is to have is given to that one only now: all of its victims are judged alike.
  void look_at(const Job& claimant) {
    const Job* before = std::exchange(claimant_, &claimant);
    if (before == nullptr || before == &claimant || !served_.insert(before->id)) return;
    const Target* target = draft_.planned_target(*before);
    if (target != nullptr && target->size > before->size()) give(*before, target->size - before->size());
  }

  const DecisionDraft& draft_;
  const TenantsByName& tree_;
  GuaranteeRoom before_;
  GuaranteeRoom given_;                                       // with what this decision gives to jobs, and to claimants
  const Job* claimant_ = nullptr;                             // looked at last
  IdSet<JobId> served_;                                       // claimants that given_ holds
  std::map<std::pair<JobId, std::string>, bool> guaranteed_;  // by claimant and the victim's tenant
};

}  // namespace

void record_share_rules(DecisionDraft& draft) {
  if (draft.state().tenants->empty()) return;
  std::optional<ShareRules> rules;  // the room of guarantees is worked out only where tenants take from each other
  std::map<JobId, reason::ShareRule> told;
  for (const PlannedIntent& planned : draft.plan()) {
    const JobId for_job = first_claimant(planned.intent);
    if (!for_job) continue;
    const Job& victim = *draft.state().find_job(job_of(planned.intent));
    const Job* claimant = draft.state().find_job(for_job);
    if (claimant == nullptr || claimant->spec.tenant == victim.spec.tenant) continue;
    if (!rules) rules.emplace(draft);
    told.insert_or_assign(victim.id, rules->between(victim, *claimant));
  }
  if (!told.empty()) draft.record_rules(told);
}

}  // namespace tidepool::core
