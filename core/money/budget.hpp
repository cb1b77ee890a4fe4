// What a tenant may spend: a budget over calendar windows, what has been spent of it, and what a spent one does to
// jobs. docs/budgets.md states the rule.
//
// Amounts are exact: an account adds up rate x time in whole millionths and keeps the remainder, so that what is spent,
// and the microsecond at which an amount is reached, do not depend on when they are asked for.
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

// What reaching a threshold does, mildest first.
enum class BudgetAction {
  kWarn,    // an event tells it, and nothing else
  kShrink,  // jobs go down to their smallest size, and none starts
  kPause,   // jobs give up their slots with their state saved, and none starts
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

// The first moment after this one at which such a window begins, in microseconds since 1970, UTC.
[[nodiscard]] std::int64_t next_window_us(BudgetWindow window, std::int64_t unix_us);

// What the jobs of a tenant, and of the tenants below it, have cost in the present window.
struct BudgetAccount {
  Budget budget;
  Money spent;                 // up to `counted_until`
  std::int64_t remainder = 0;  // of it, as in Account
  Instant counted_until;
  Money rate;                       // an hour: what these jobs hold since then
  std::int64_t window_ends_us = 0;  // since 1970, UTC
  std::size_t reached = 0;          // so many thresholds
  bool operator==(const BudgetAccount&) const = default;
};
using BudgetAccounts = SharedMap<std::string, BudgetAccount>;  // of tenants with a budget

// Nothing if that has been counted already.
void count_until(BudgetAccount& account, Instant until);
// When so much will have been spent if the rate stays; at once if it has been. None: never.
[[nodiscard]] std::optional<Instant> reaches_at(const BudgetAccount& account, Money amount);
// When its next threshold is reached, if the rate stays. None: never, or all are.
[[nodiscard]] std::optional<Instant> next_threshold_at(const BudgetAccount& account);
// Of the thresholds that are reached, the one with the strongest action; none while they only warn.
[[nodiscard]] std::optional<BudgetThreshold> in_force(const BudgetAccount& account);

// What a spent budget does to a job. Part of the job, so that all that decides about it sees it.
struct BudgetHold {
  BudgetAction action = BudgetAction::kPause;  // never kWarn
  std::string tenant;                          // whose budget it is: the job's own, or one above it
  Money limit;
  int percent = 100;  // of it that had to be spent for this
  std::int64_t window_ends_us = 0;
  int pinned_size = 0;  // what its user has asked for, which rests while the job is shrunk
};
[[nodiscard]] bool is_same(const BudgetHold& one, const BudgetHold& other);  // but for what rests

}  // namespace tidepool::core
