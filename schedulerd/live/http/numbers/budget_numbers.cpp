#include "schedulerd/live/http/numbers/budget_numbers.hpp"

namespace tidepool::live::http {

BudgetNumbers budget_numbers(const core::ClusterState& state, const core::BudgetAccount& account, Instant now) {
  const Instant end = Instant::from_micros(account.window_ends_us - state.utc_us_at_zero);
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
