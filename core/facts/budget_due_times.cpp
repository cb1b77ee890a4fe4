#include "core/facts/budget_due_times.hpp"

#include "base/first_after.hpp"
#include "core/state/utc_time.hpp"

namespace tidepool::core {

BudgetDueTimes::Due BudgetDueTimes::due_of(const BudgetAccount& account) {
  return {.window_ends_us = account.window_ends_us, .threshold = next_threshold_at(account)};
}

void BudgetDueTimes::put(const std::string& tenant, const Due& due) {
  known_.emplace(tenant, due);
  windows_.emplace(due.window_ends_us, tenant);
  if (due.threshold) thresholds_.emplace(*due.threshold, tenant);
}

void BudgetDueTimes::follow(const BudgetAccounts& accounts, const std::string& tenant) {
  const auto account = accounts.find(tenant);
  const auto due = account == accounts.end() ? std::nullopt : std::optional(due_of(account->second));
  if (const auto before = known_.find(tenant); before != known_.end()) {
    if (due && before->second == *due) return;
    windows_.erase({before->second.window_ends_us, tenant});
    if (before->second.threshold) thresholds_.erase({*before->second.threshold, tenant});
    known_.erase(before);
  }
  if (due) put(tenant, *due);
}

void BudgetDueTimes::follow_all(const BudgetAccounts& accounts) {
  *this = BudgetDueTimes();
  for (const auto& [tenant, account] : accounts) put(tenant, due_of(account));
}

std::optional<Instant> BudgetDueTimes::next(const ClusterState& state) const {
  FirstAfter first;
  if (!windows_.empty()) first.consider(at_utc(state, windows_.begin()->first));
  if (!thresholds_.empty()) first.consider(thresholds_.begin()->first);
  return first.found();
}

}  // namespace tidepool::core
