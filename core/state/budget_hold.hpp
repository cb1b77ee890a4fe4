// What a spent budget (budget.hpp) means for one job; every decision about the job reads it here.
#pragma once

#include "core/state/job.hpp"
#include "core/state/reasons/changing.hpp"
#include "core/state/reasons/waiting.hpp"

namespace tidepool::core {

// The job must not start, and must release its slots: its budget pauses or stops it, or it holds no slots while its
// budget shrinks running jobs.
[[nodiscard]] bool is_withheld(const Job& job);
// The job may have its smallest size and no other.
[[nodiscard]] bool is_shrunk(const Job& job);
// The size that the user has pinned, even while the pin is suspended; 0 = none.
[[nodiscard]] int pinned_by_user(const Job& job);

// The reason. Requires: the job is withheld.
[[nodiscard]] reason::BudgetSpent why_withheld(const Job& job);
[[nodiscard]] reason::BudgetStopped why_stopped(const Job& job);
[[nodiscard]] reason::BudgetShrunk why_shrunk(const Job& job);

}  // namespace tidepool::core
