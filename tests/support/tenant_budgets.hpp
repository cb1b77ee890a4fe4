// Random budgets of tenants in a simulated world, and a ledger that checks their accounts against what jobs have cost.
#pragma once

#include <catch2/catch.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/accrual.hpp"
#include "core/state/account.hpp"
#include "tests/support/random_tenants.hpp"
#include "tests/support/simulated_world.hpp"

namespace tidepool::test {

__extension__ using Wide = __int128;

inline core::TenantTree with_budgets(Rng& rng, core::TenantTree tree) {
  for (core::Tenant& tenant : tree.tenants) {
    if (rng.chance(0.4)) continue;
    core::Budget budget{.limit = Money::micros(rng.between(200, 60'000)),
                        .window = static_cast<core::BudgetWindow>(rng.between(0, 2))};
    int percent = 0;
    for (std::int64_t n = rng.between(1, 4); n > 0; --n) {
      percent += static_cast<int>(rng.between(1, 60));
      budget.thresholds.push_back({percent, static_cast<core::BudgetAction>(rng.between(0, 3))});
    }
    tenant.budget = std::move(budget);
  }
  return tree;
}

// In millionths x microseconds / hour.
inline Wide exact(Money whole, std::int64_t remainder) {
  return static_cast<Wide>(whole.count_micros()) * kUsPerHour + remainder;
}

// What jobs have cost until now, by tenant, those that have left the state included.
inline std::map<std::string, Wide> cost_by_tenant(const SimulatedWorld& world) {
  std::map<std::string, Wide> cost;
  const auto add = [&](core::Job job, bool is_there) {
    if (is_there) core::charge(world.state(), job, world.now());
    for (const core::Tenant* tenant : world.state().tenants->path_to(job.spec.tenant)) {
      cost[tenant->name] += exact(job.account.cost, job.account.cost_remainder);
    }
  };
  for (const auto& [id, job] : world.state().jobs) add(*job, true);
  for (const auto& [id, job] : world.ended()) add(*job, false);
  return cost;
}

// What of it lies before an account's present window: the same until that ends, and then whole millionths more.
class BudgetLedger {
 public:
  void require_agrees(const SimulatedWorld& world) {
    // Another tree, which an old fact may bring back, counts other jobs.
    if (tree_ != *world.state().tenants) entries_.clear();
    tree_ = *world.state().tenants;
    const auto cost = cost_by_tenant(world);
    std::map<std::string, Entry> now;
    for (const auto& [tenant, account] : world.state().budgets) {
      INFO(tenant);
      core::BudgetAccount counted = account;
      core::count_until(counted, world.now());
      const auto spent = cost.find(tenant);
      const Wide all = spent == cost.end() ? 0 : spent->second;
      const Entry entry{account.window_ends_us, all - exact(counted.spent, counted.remainder)};
      if (const auto known = entries_.find(tenant); known != entries_.end()) {
        const Wide more = entry.before - known->second.before;
        if (entry.window_ends_us == known->second.window_ends_us) {
          REQUIRE(more == 0);
        } else {
          ++turns_;
          REQUIRE(more >= 0);
          REQUIRE(more % kUsPerHour == 0);
        }
      }
      now.emplace(tenant, entry);
    }
    entries_ = std::move(now);
  }
  void forget() { entries_.clear(); }
  [[nodiscard]] std::size_t turns() const { return turns_; }

 private:
  struct Entry {
    std::int64_t window_ends_us = 0;
    Wide before = 0;
  };
  core::TenantTree tree_;
  std::map<std::string, Entry> entries_;
  std::size_t turns_ = 0;
};

}  // namespace tidepool::test
