// When each budget is due next (its window ends, or its next threshold is reached), in order: the first of 10,000 is
// asked for with every fact, and few accounts change with one.
//
// Rule: all of it follows from the accounts and is no part of the state. Whatever changes an account is followed before
// the first is asked for again; StateChange does so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

class BudgetDues {
 public:
  BudgetDues() = default;  // of no budgets
  explicit BudgetDues(const BudgetAccounts& accounts) { follow_all(accounts); }

  // The tenant's account has changed, has come or has gone.
  void follow(const BudgetAccounts& accounts, const std::string& tenant);
  void follow_all(const BudgetAccounts& accounts);

  // As next_budget_due() finds it (budget_facts.hpp).
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
