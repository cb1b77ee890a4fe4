// Budgets of tenants as time passes: windows that end, thresholds that are reached, and what that does to jobs.
//
// Rule: every fact counts up to its own time, so a threshold that is due takes effect with the first fact at or after
// that moment. A shell that has nothing to tell then tells ClockAdvanced.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

[[nodiscard]] Status apply(StateChange& change, const UtcSet& fact);

// An account under a budget that has just been set: no threshold of it is reached yet. `told` need not be told anew.
struct BudgetSet {
  BudgetAccount account;
  std::vector<BudgetThreshold> told;
};
// What has been spent stays if the window is as it was; else the account begins at that time. Requires: the tenant has
// a budget.
[[nodiscard]] BudgetSet set_budget(const ClusterState& state, const BudgetAccounts& before, const Tenant& tenant,
                                   Instant at);
// Counts the account to the end of each window that ends by then, and begins the next one there; `at_end` is called
// before what was spent begins anew. Whether any has ended.
bool end_windows(const ClusterState& state, BudgetAccount& account, Instant until, const std::function<void()>& at_end);
// It holds slots, or leaves as it is stopped. Others are not stopped: they wait, as those that come later do.
[[nodiscard]] bool can_be_stopped(const Job& job);
// What the budgets of a tenant and of those above it ask of its jobs that can, or cannot, be stopped: the strongest, of
// equals the one whose window ends last, and of these the one further up.
[[nodiscard]] std::optional<BudgetHold> hold_of(const TenantsByName& tree, const BudgetAccounts& budgets,
                                                const std::string& tenant, bool can_stop);

// The tree has been set: what has been spent stays where the window is as it was, and counts against the new limits.
void follow_tree(StateChange& change);
// All of them counted up to then, and the windows that end by then ended. Whether any has: jobs are still to be told,
// by follow_budgets().
[[nodiscard]] bool count_budgets(StateChange& change, Instant until);
// After each fact.
void follow_budgets(StateChange& change, bool window_ended);
// A new job of a tenant whose budget is spent waits from its first moment on.
void hold_if_spent(StateChange& change, Job& job);

// When the next window ends, or the next threshold is reached if jobs go on holding what they hold.
[[nodiscard]] std::optional<Instant> next_budget_due(const ClusterState& state);

}  // namespace tidepool::core
