// What budgets of a new tree of tenants do to jobs in the moment in which it is set: by the rule of TenantsConfigured
// (core/facts/budget_facts.hpp), and without a copy of the state. docs/budgets.md states the rule.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// What becomes of a job.
enum class BudgetFate {
  kCancelled,
  kPaused,
  kShrunk,    // shrinks to its smallest size
  kHeldBack,  // holds no slots and may not start
  kFreed,     // was one of these, and is not any more
};

// Of one budget.
struct BudgetEffect {
  std::string tenant;            // whose budget it is
  std::optional<Budget> budget;  // as it will be; none: the tenant has none any more
  Money spent;                   // in the present window
  std::vector<BudgetThreshold> reached;
  std::int64_t jobs = 0;  // of the tenant and of those below it, that have not ended
  std::map<BudgetFate, std::vector<JobId>> changed;
  Money left_out = {};  // what was spent of one that is no more, or had another window: a new one begins with nothing
  BudgetWindow left_out_of = BudgetWindow::kMonth;
};

// By tenant; of a budget that changes nothing at once there is none. A job of a tenant that `next` lacks is passed
// over: such a tree is refused.
[[nodiscard]] std::vector<BudgetEffect> budget_effects(const ClusterState& state, const TenantTree& next, Instant now);

// For the operator who is about to set the tree: a sentence each for what is held, for what is let go, and for what is
// counted no more.
[[nodiscard]] std::vector<std::string> budget_warnings(const ClusterState& state, const BudgetEffect& effect);

}  // namespace tidepool::core
