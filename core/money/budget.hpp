// What a tenant may spend: a budget over calendar windows, its spending, and the effects of a spent budget on jobs.
// docs/budgets.md states the rule.
//
// Amounts are exact: an account adds up rate x time in whole millionths and keeps the remainder, so that the spending,
// and the microsecond at which an amount is reached, do not depend on when they are read.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/money.hpp"
#include "base/result.hpp"
#include "base/shared_map.hpp"
#include "base/time.hpp"

namespace tidepool::core {

// Calendar windows in UTC: a day begins at 00:00, a week on Monday, a month on its first day.
enum class BudgetWindow { kDay, kWeek, kMonth };

// What reaching a threshold does, weakest action first.
enum class BudgetAction {
  kWarn,    // only an event
  kShrink,  // jobs shrink to their smallest size, and none starts
  kPause,   // jobs release their slots with their state saved, and none starts
  kStop,    // jobs that hold slots are cancelled, and none starts
};
inline constexpr std::array kBudgetWindows{BudgetWindow::kDay, BudgetWindow::kWeek, BudgetWindow::kMonth};
inline constexpr std::array kBudgetActions{BudgetAction::kWarn, BudgetAction::kShrink, BudgetAction::kPause,
                                           BudgetAction::kStop};
[[nodiscard]] const char* to_text(BudgetWindow window);  // "day", "week", "month"
[[nodiscard]] const char* to_text(BudgetAction action);  // "warn", "shrink", "pause", "stop"

inline constexpr int kThresholdPercentMost = 1'000;
inline constexpr std::size_t kThresholdsMost = 16;

struct BudgetThreshold {
  int percent = 100;  // of the limit
  BudgetAction action = BudgetAction::kPause;
  bool operator==(const BudgetThreshold&) const = default;
};

struct Budget {
  Money limit;
  BudgetWindow window = BudgetWindow::kMonth;
  std::vector<BudgetThreshold> thresholds = {};  // ascending
  bool operator==(const Budget&) const = default;
};
[[nodiscard]] Status check_budget(const Budget& budget);

// The smallest amount at which the threshold is reached.
[[nodiscard]] Money amount_of(const Budget& budget, const BudgetThreshold& threshold);

// The first moment after `unix_us` at which such a window begins, in microseconds since 1970, UTC.
[[nodiscard]] std::int64_t next_window_us(BudgetWindow window, std::int64_t unix_us);

// The cost of the jobs of a tenant, and of the tenants below it, in the present window.
struct BudgetAccount {
  Budget budget;
  Money spent;                 // up to `counted_until`
  std::int64_t remainder = 0;  // of `spent`, as in Account
  Instant counted_until;
  Money rate;                       // per hour: the cost of these jobs' slots since then
  std::int64_t window_ends_us = 0;  // since 1970, UTC
  std::size_t reached = 0;          // number of thresholds reached
  bool operator==(const BudgetAccount&) const = default;
};
using BudgetAccounts = SharedMap<std::string, BudgetAccount>;  // of tenants with a budget

// Does nothing if that time was counted already.
void count_until(BudgetAccount& account, Instant until);
// When `amount` will have been spent if the rate does not change; at once if it has been spent. None: never.
[[nodiscard]] std::optional<Instant> reaches_at(const BudgetAccount& account, Money amount);
// When its next threshold is reached if the rate does not change. None: never, or all are reached.
[[nodiscard]] std::optional<Instant> next_threshold_at(const BudgetAccount& account);
// Of the reached thresholds, the one with the strongest action; none while they only warn.
[[nodiscard]] std::optional<BudgetThreshold> in_force(const BudgetAccount& account);

// The effect of a spent budget on a job. Part of the job, so that every decision about the job sees it.
struct BudgetHold {
  BudgetAction action = BudgetAction::kPause;  // never kWarn
  std::string tenant;                          // owner of the budget: the job's own tenant, or one above it
  Money limit;
  int percent = 100;  // percentage of the budget that triggered this
  std::int64_t window_ends_us = 0;
  int pinned_size = 0;  // the size that its user has pinned; the pin is suspended while the job is shrunk
};
[[nodiscard]] bool is_same(const BudgetHold& one, const BudgetHold& other);  // apart from the suspended pin

}  // namespace tidepool::core
