// Budgets of tenants as time passes: windows that end, thresholds that are reached, and the effects on jobs.
//
// Rule: every fact counts spending up to its own time, so a threshold that is due takes effect with the first fact at
// or after that moment. A shell without other facts then sends ClockAdvanced.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

[[nodiscard]] Status apply(StateChange& change, const UtcSet& fact);

// An account under a budget that was just set: none of its thresholds is reached yet. `told`: thresholds that need no
// new event.
struct BudgetSet {
  BudgetAccount account;
  std::vector<BudgetThreshold> told;
};
// What has been spent is kept if the window is unchanged; otherwise the account begins at that time. Requires: the
// tenant has a budget.
[[nodiscard]] BudgetSet set_budget(const ClusterState& state, const BudgetAccounts& before, const Tenant& tenant,
                                   Instant at);
// Counts the account to the end of each window that ends by `until`, and begins the next window there; calls `at_end`
// before the spending is reset. Returns whether any window ended.
bool end_windows(const ClusterState& state, BudgetAccount& account, Instant until, const std::function<void()>& at_end);
// The job holds slots, or leaves because it is stopped. Other jobs are not stopped: they wait, as do jobs submitted
// later.
[[nodiscard]] bool can_be_stopped(const Job& job);
// What the budgets of a tenant and of the tenants above it demand of its jobs that can, or cannot, be stopped: the
// strongest demand; among equals the one whose window ends last, then the one further up.
[[nodiscard]] std::optional<BudgetHold> hold_of(const TenantsByName& tree, const BudgetAccounts& budgets,
                                                const std::string& tenant, bool can_stop);

// The tree has been set: spending is kept where the window is unchanged, and counts against the new limits.
void follow_tree(StateChange& change);
// Counts all budgets up to that time, and ends the windows that end by then. Returns whether any ended: then
// follow_budgets() must still update the jobs.
[[nodiscard]] bool count_budgets(StateChange& change, Instant until);
// Call after each fact.
void follow_budgets(StateChange& change, bool window_ended);
// A new job of a tenant with a spent budget waits from the start.
void hold_if_spent(StateChange& change, Job& job);

// When the next window ends, or the next threshold is reached if jobs keep their present slots.
[[nodiscard]] std::optional<Instant> next_budget_due(const ClusterState& state);

}  // namespace tidepool::core
