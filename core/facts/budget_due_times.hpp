// An ordered index of when each budget is due next (its window ends, or its next threshold is reached). The earliest of
// 10,000 is read with every fact, while one fact changes few accounts.
//
// Rule: the index is derived from the accounts and is no part of the state. StateChange calls follow() for each changed
// account before it reads the earliest entry again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

class BudgetDueTimes {
 public:
  BudgetDueTimes() = default;  // for a state without budgets
  explicit BudgetDueTimes(const BudgetAccounts& accounts) { follow_all(accounts); }

  // Call when the tenant's account was added, changed or removed.
  void follow(const BudgetAccounts& accounts, const std::string& tenant);
  void follow_all(const BudgetAccounts& accounts);

  // The same as next_budget_due() (budget_facts.hpp).
  [[nodiscard]] std::optional<Instant> next(const ClusterState& state) const;

 private:
  struct Due {
    std::int64_t window_ends_us = 0;  // since 1970, UTC
    std::optional<Instant> threshold;
    bool operator==(const Due&) const = default;
  };
  static Due due_of(const BudgetAccount& account);
  void put(const std::string& tenant, const Due& due);

  std::map<std::string, Due> known_;
  std::set<std::pair<std::int64_t, std::string>> windows_;
  std::set<std::pair<Instant, std::string>> thresholds_;
};

}  // namespace tidepool::core
