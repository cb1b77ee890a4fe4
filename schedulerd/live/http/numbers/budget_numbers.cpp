#include "schedulerd/live/http/numbers/budget_numbers.hpp"

#include "core/state/utc_time.hpp"

namespace tidepool::live::http {

BudgetNumbers budget_numbers(const core::ClusterState& state, const core::BudgetAccount& account, Instant now) {
  const Instant end = core::at_utc(state, account.window_ends_us);
  core::BudgetAccount counted = account;
  core::count_until(counted, now);
  const auto limit_at = core::reaches_at(counted, counted.budget.limit);
  const bool comes = counted.spent < counted.budget.limit && limit_at && *limit_at < end;
  BudgetNumbers numbers{.spent = counted.spent,
                        .rate = counted.rate,
                        .expected = {},
                        .window_ends = end,
                        .limit_at = comes ? limit_at : std::nullopt,
                        .in_force = core::in_force(account)};
  core::count_until(counted, end);
  numbers.expected = counted.spent;
  return numbers;
}

}  // namespace tidepool::live::http
