// What a spent budget means for one job (budget.hpp), for all that decides about it.
#pragma once

#include "core/state/job.hpp"
#include "core/state/reasons/changing.hpp"
#include "core/state/reasons/waiting.hpp"

namespace tidepool::core {

// It must not start, and gives up what it holds: its budget pauses or stops it, or it holds nothing while its budget
// shrinks those that do.
[[nodiscard]] bool is_withheld(const Job& job);
// It may have its smallest size and no other.
[[nodiscard]] bool is_shrunk(const Job& job);
// What its user has pinned, though that may rest; 0 = nothing.
[[nodiscard]] int pinned_by_user(const Job& job);

// Why. Requires: the job is held.
[[nodiscard]] reason::BudgetSpent why_withheld(const Job& job);
[[nodiscard]] reason::BudgetStopped why_stopped(const Job& job);
[[nodiscard]] reason::BudgetShrunk why_shrunk(const Job& job);

}  // namespace tidepool::core
