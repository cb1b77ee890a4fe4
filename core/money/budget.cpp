#include "core/money/budget.hpp"

#include <algorithm>
#include <limits>

#include "base/accrual.hpp"
#include "base/calendar.hpp"

namespace tidepool::core {
namespace {

__extension__ using Wide = __int128;

Error wrong_budget(const std::string& what) {
  return invalid_argument("budget: " + what);
}

}  // namespace

const char* to_text(BudgetWindow window) {
  switch (window) {
    case BudgetWindow::kDay: return "day";
    case BudgetWindow::kWeek: return "week";
    case BudgetWindow::kMonth: return "month";
  }
  return "";
}

const char* to_text(BudgetAction action) {
  switch (action) {
    case BudgetAction::kWarn: return "warn";
    case BudgetAction::kShrink: return "shrink";
    case BudgetAction::kPause: return "pause";
    case BudgetAction::kStop: return "stop";
  }
  return "";
}

Status check_budget(const Budget& budget) {
  if (budget.limit <= Money()) return wrong_budget("limit is above 0");
  if (budget.thresholds.empty()) return wrong_budget("it needs a threshold, such as {percent: 100, action: pause}");
  if (budget.thresholds.size() > kThresholdsMost) return wrong_budget("there are at most 16 thresholds");
  int before = 0;
  for (const BudgetThreshold& threshold : budget.thresholds) {
    if (threshold.percent <= before)
      return wrong_budget("thresholds are in ascending order, each at a percent of its own");
    if (threshold.percent > kThresholdPercentMost) return wrong_budget("a threshold is at most at 1000 percent");
    before = threshold.percent;
  }
  return ok_status();
}

Money amount_of(const Budget& budget, const BudgetThreshold& threshold) {
  const Wide hundredfold = static_cast<Wide>(budget.limit.count_micros()) * threshold.percent;
  return Money::micros(static_cast<std::int64_t>((hundredfold + 99) / 100));
}

std::int64_t next_window_us(BudgetWindow window, std::int64_t unix_us) {
  const std::int64_t today = day_of(unix_us);
  std::int64_t next = today + 1;
  if (window == BudgetWindow::kWeek) next = week_of(today) + 7;
  if (window == BudgetWindow::kMonth) next = next_month_of(today);
  return next * kDayMicros;
}

void count_until(BudgetAccount& account, Instant until) {
  if (until <= account.counted_until) return;
  accrue(account.rate, until - account.counted_until, account.spent, account.remainder);
  account.counted_until = until;
}

std::optional<Instant> reaches_at(const BudgetAccount& account, Money amount) {
  if (account.spent >= amount) return account.counted_until;
  const std::int64_t rate = account.rate.count_micros();
  if (rate == 0) return std::nullopt;
  const Wide missing = static_cast<Wide>((amount - account.spent).count_micros()) * kUsPerHour - account.remainder;
  const Wide at = account.counted_until.count_us() + (missing + rate - 1) / rate;
  if (at > std::numeric_limits<std::int64_t>::max() / 2) return std::nullopt;  // beyond any counted time
  return Instant::from_micros(static_cast<std::int64_t>(at));
}

std::optional<Instant> next_threshold_at(const BudgetAccount& account) {
  const auto& thresholds = account.budget.thresholds;
  if (account.reached == thresholds.size()) return std::nullopt;
  return reaches_at(account, amount_of(account.budget, thresholds[account.reached]));
}

std::optional<BudgetThreshold> in_force(const BudgetAccount& account) {
  std::optional<BudgetThreshold> strongest;
  for (std::size_t i = 0; i < account.reached; ++i) {
    const BudgetThreshold& threshold = account.budget.thresholds[i];
    if (threshold.action > (strongest ? strongest->action : BudgetAction::kWarn)) strongest = threshold;
  }
  return strongest;
}

bool is_same(const BudgetHold& one, const BudgetHold& other) {
  return one.action == other.action && one.tenant == other.tenant && one.limit == other.limit &&
         one.percent == other.percent && one.window_ends_us == other.window_ends_us;
}

}  // namespace tidepool::core
