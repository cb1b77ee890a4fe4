// The immediate effects on jobs of the budgets in a new tree of tenants: by the rule of TenantsConfigured
// (core/facts/budget_facts.hpp), and without a copy of the state. docs/budgets.md states the rule.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// The effect on a job.
enum class BudgetFate {
  kCancelled,
  kPaused,
  kShrunk,    // shrinks to its smallest size
  kHeldBack,  // holds no slots and may not start
  kFreed,     // was withheld or shrunk, and no longer is
};

// The effect of one budget.
struct BudgetEffect {
  std::string tenant;            // owner of the budget
  std::optional<Budget> budget;  // the new budget; none: the tenant no longer has one
  Money spent;                   // in the present window
  std::vector<BudgetThreshold> reached;
  std::int64_t jobs = 0;  // jobs of the tenant and of those below it that have not ended
  std::map<BudgetFate, std::vector<JobId>> changed;
  Money left_out = {};  // spending under a removed budget or another window, which no longer counts
  BudgetWindow left_out_of = BudgetWindow::kMonth;
};

// By tenant; a budget without immediate effects has no entry. A job of a tenant that `next` lacks is skipped: such a
// tree is refused.
[[nodiscard]] std::vector<BudgetEffect> budget_effects(const ClusterState& state, const TenantTree& next, Instant now);

// For the operator who is about to set the tree: one sentence each for the jobs withheld, for the jobs released, and
// for the spending that no longer counts.
[[nodiscard]] std::vector<std::string> budget_warnings(const ClusterState& state, const BudgetEffect& effect);

}  // namespace tidepool::core
