#include "core/explain/budget_warnings.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/word_list.hpp"
#include "core/facts/budget_facts.hpp"
#include "core/state/job_state.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

constexpr std::size_t kJobsNamed = 5;

std::optional<BudgetFate> fate_of(const Job& job, const std::optional<BudgetHold>& hold) {
  if (!hold || hold->action == BudgetAction::kWarn) return std::nullopt;
  if (hold->action == BudgetAction::kStop) return BudgetFate::kCancelled;
  if (job.membership.workers.empty()) return BudgetFate::kHeldBack;
  return hold->action == BudgetAction::kPause ? BudgetFate::kPaused : BudgetFate::kShrunk;
}

// Spending until now; windows that have ended by now are closed.
BudgetAccounts counted_accounts(const ClusterState& state, Instant now) {
  BudgetAccounts accounts = state.budgets;
  accounts.edit_all([&](const std::string&, BudgetAccount& account) {
    (void)end_windows(state, account, now, [] {});
    count_until(account, now);
  });
  return accounts;
}

bool is_in(const std::vector<BudgetThreshold>& thresholds, const BudgetThreshold& threshold) {
  return std::find(thresholds.begin(), thresholds.end(), threshold) != thresholds.end();
}

class EffectsOf {
 public:
  EffectsOf(const ClusterState& state, const TenantTree& next, Instant now) : state_(state), next_(next) {
    const BudgetAccounts before = counted_accounts(state, now);
    for (const Tenant& tenant : next.tenants) {
      if (tenant.budget) set(before, tenant, now);
    }
    for (const auto& [tenant, account] : before) leave_out(tenant, account);
    for (const auto& [id, job] : state.jobs) {
      if (!is_final(job->state())) look_at(*job);
    }
  }

  std::vector<BudgetEffect> found() && {
    std::vector<BudgetEffect> found;
    for (auto& [tenant, effect] : effects_) {
      effect.tenant = tenant;
      const auto jobs = jobs_.find(tenant);
      effect.jobs = jobs == jobs_.end() ? 0 : jobs->second;
      const bool is_told = !effect.reached.empty() || !effect.changed.empty() || effect.left_out > Money();
      if (is_told) found.push_back(std::move(effect));
    }
    return found;
  }

 private:
  struct Leaf {
    std::vector<const Tenant*> path;
    std::optional<BudgetHold> hold;
  };

  void set(const BudgetAccounts& before, const Tenant& tenant, Instant now) {
    auto [account, told] = set_budget(state_, before, tenant, now);
    BudgetEffect& effect = effects_[tenant.name];
    effect.budget = tenant.budget;
    effect.spent = account.spent;
    for (const BudgetThreshold& threshold : tenant.budget->thresholds) {
      if (account.spent < amount_of(*tenant.budget, threshold)) break;
      ++account.reached;
      if (!is_in(told, threshold)) effect.reached.push_back(threshold);
    }
    accounts_.emplace(tenant.name, std::move(account));
  }

  // Its spending no longer counts if its window changes or the budget is removed.
  void leave_out(const std::string& tenant, const BudgetAccount& account) {
    const auto next = accounts_.find(tenant);
    if (next != accounts_.end() && next->second.budget.window == account.budget.window) return;
    effects_[tenant].left_out = account.spent;
    effects_[tenant].left_out_of = account.budget.window;
  }

  const Leaf& leaf_of(const Job& job) {
    const bool can_stop = can_be_stopped(job);
    const auto [found, is_new] = leaves_.try_emplace({job.spec.tenant, can_stop});
    const std::string& tenant = job.spec.tenant;
    if (is_new) found->second = {next_.path_to(tenant), hold_of(next_, accounts_, tenant, can_stop)};
    return found->second;
  }

  void look_at(const Job& job) {
    const Leaf& leaf = leaf_of(job);
    if (leaf.path.empty() && !next_.empty()) return;
    for (const Tenant* above : leaf.path) ++jobs_[above->name];
    if (job.state() == JobState::kSuspended) return;  // it waits for its user in any case
    const auto fate = fate_of(job, leaf.hold);
    if (fate == fate_of(job, job.hold)) return;
    effects_[fate ? leaf.hold->tenant : job.hold->tenant].changed[fate.value_or(BudgetFate::kFreed)].push_back(job.id);
  }

  const ClusterState& state_;
  const TenantsByName next_;
  BudgetAccounts accounts_;  // the accounts under the new tree
  std::map<std::string, BudgetEffect> effects_;
  std::map<std::string, std::int64_t> jobs_;             // by tenant
  std::map<std::pair<std::string, bool>, Leaf> leaves_;  // by tenant of jobs, and whether they can be stopped
};

std::string named_jobs(const ClusterState& state, const std::vector<JobId>& jobs) {
  const auto name = [&](JobId id) { return id.text() + " " + state.find_job(id)->spec.name; };
  const auto more = [](std::size_t count) { return grouped(static_cast<double>(count)) + " more"; };
  return " (" + first_words(jobs, kJobsNamed, more, name) + ")";
}

// "stop at 100 % (5000.00)"
std::string threshold_text(const Budget& budget, const BudgetThreshold& threshold) {
  return std::string(to_text(threshold.action)) + " at " + std::to_string(threshold.percent) + " % (" +
         to_text(amount_of(budget, threshold)) + ")";
}

std::string fate_text(const ClusterState& state, BudgetFate fate, const std::vector<JobId>& jobs) {
  const bool is_one = jobs.size() == 1;
  const auto told = [&](const std::string& what) {
    return grouped(static_cast<double>(jobs.size())) + " " + what + named_jobs(state, jobs);
  };
  switch (fate) {
    case BudgetFate::kCancelled: return told(is_one ? "is cancelled" : "are cancelled");
    case BudgetFate::kPaused: return told(is_one ? "is paused" : "are paused");
    case BudgetFate::kShrunk: return told(is_one ? "shrinks to its smallest size" : "shrink to their smallest sizes");
    case BudgetFate::kHeldBack:
      return told(is_one ? "that holds no slots may not start" : "that hold no slots may not start");
    case BudgetFate::kFreed:
      return told((is_one ? "job" : "jobs") + std::string(" that it holds now may start or grow"));
  }
  return "";
}

// Thresholds that this tree reaches, or else those already in force.
std::string reached_text(const BudgetEffect& effect) {
  std::vector<BudgetThreshold> told = effect.reached;
  for (const BudgetThreshold& threshold : effect.budget->thresholds) {
    const bool is_spent = amount_of(*effect.budget, threshold) <= effect.spent;
    if (effect.reached.empty() && is_spent && threshold.action != BudgetAction::kWarn) told.push_back(threshold);
  }
  return word_list(told, [&](const BudgetThreshold& each) { return threshold_text(*effect.budget, each); });
}

std::string effect_text(const ClusterState& state, const BudgetEffect& effect) {
  const Budget& budget = *effect.budget;
  std::string text = "the budget of tenant " + effect.tenant + " takes effect at once: " + to_text(effect.spent) +
                     " of " + to_text(budget.limit) + " a " + to_text(budget.window) + " are spent, which reaches " +
                     reached_text(effect);
  std::string jobs;
  for (const auto& [fate, ids] : effect.changed) {
    if (fate != BudgetFate::kFreed) jobs += (jobs.empty() ? "" : ", ") + fate_text(state, fate, ids);
  }
  if (jobs.empty()) {
    return text + "; nothing changes for its " + counted(static_cast<double>(effect.jobs), "job");
  }
  return text + "; of its " + counted(static_cast<double>(effect.jobs), "job") + " " + jobs;
}

const char* then_text(BudgetAction action) {
  switch (action) {
    case BudgetAction::kWarn: break;
    case BudgetAction::kShrink: return "its jobs then shrink to their smallest sizes";
    case BudgetAction::kPause: return "its jobs are then paused";
    case BudgetAction::kStop: return "its jobs that hold slots are then cancelled";
  }
  return "a warning is then issued";
}

// The next threshold whose action is more than a warning.
std::string next_text(const BudgetEffect& effect) {
  if (!effect.budget) return "; the tenant no longer has a budget";
  for (const BudgetThreshold& threshold : effect.budget->thresholds) {
    const Money amount = amount_of(*effect.budget, threshold);
    if (threshold.action == BudgetAction::kWarn || amount <= effect.spent) continue;
    return "; " + to_text(effect.spent) + " of " + to_text(effect.budget->limit) + " a " +
           to_text(effect.budget->window) + " are spent, and " + threshold_text(*effect.budget, threshold) +
           " is reached when " + to_text(amount - effect.spent) + " more are: " + then_text(threshold.action);
  }
  return "; it has no other threshold that holds them";
}

std::string left_out_text(const BudgetEffect& effect) {
  const std::string window = to_text(effect.left_out_of);
  const std::string spent = to_text(effect.left_out) + " that are spent this " + window;
  if (!effect.budget) {
    return "the budget of tenant " + effect.tenant + " is taken away: " + spent +
           " count in no budget of its own that is set later, under this name or another";
  }
  return "the budget of tenant " + effect.tenant + " starts from zero, because its window is a " +
         to_text(effect.budget->window) + " in place of a " + window + ": " + spent + " do not count in it";
}

}  // namespace

std::vector<BudgetEffect> budget_effects(const ClusterState& state, const TenantTree& next, Instant now) {
  return EffectsOf(state, next, now).found();
}

std::vector<std::string> budget_warnings(const ClusterState& state, const BudgetEffect& effect) {
  std::vector<std::string> warnings;
  const auto freed = effect.changed.find(BudgetFate::kFreed);
  const bool is_freed = freed != effect.changed.end();
  const bool holds = effect.changed.size() > (is_freed ? 1U : 0U);
  if (effect.budget && (holds || !effect.reached.empty())) warnings.push_back(effect_text(state, effect));
  if (is_freed) {
    warnings.push_back("the budget of tenant " + effect.tenant + " lets jobs continue at once: " +
                       fate_text(state, BudgetFate::kFreed, freed->second) + next_text(effect));
  }
  if (effect.left_out > Money()) warnings.push_back(left_out_text(effect));
  return warnings;
}

}  // namespace tidepool::core
