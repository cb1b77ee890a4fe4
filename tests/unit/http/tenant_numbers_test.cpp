// What tenants have and want, as it is shown.
#include <cstdint>

#include <catch2/catch.hpp>

#include "schedulerd/live/http/numbers/budget_numbers.hpp"
#include "schedulerd/live/http/numbers/tenant_numbers.hpp"

namespace tidepool::live::http {

TEST_CASE("a tenant whose jobs lack slots of a type shows that it wants them") {
  core::ClusterState state;
  state.tenants = core::TenantTree{
      .tenants = {{.name = "lab"}, {.name = "vision", .parent = "lab"}, {.name = "speech", .parent = "lab"}}};
  state.plan.tenants["vision"] = {.entitled = 2, .wanted = 2, .satisfied = true};
  state.plan.tenants["speech"] = {
      .entitled = 2, .wanted = 2, .satisfied = true, .of_types = {{"new", 2}}, .lacks_slots = 3};
  const auto numbers = tenant_numbers(state, Instant());
  CHECK(numbers[1].wanted == 2);
  CHECK(numbers[1].satisfied);
  CHECK(numbers[2].wanted == 5);
  CHECK_FALSE(numbers[2].satisfied);
  CHECK(numbers[0].wanted == 7);
  CHECK_FALSE(numbers[0].satisfied);
  // What its jobs would have without any bound is known already.
  state.plan.tenants["speech"].satisfied = false;
  CHECK(tenant_numbers(state, Instant())[2].wanted == 2);
}

TEST_CASE("a tenant's sum has what was used below it by tenants that have left the tree") {
  core::ClusterState state;
  state.tenants = core::TenantTree{.tenants = {{.name = "lab"}, {.name = "vision", .parent = "lab"}}};
  state.tenant_uses["lab"] = {.slot_time = Duration::seconds(30), .cost = Money::micros(7)};
  state.tenant_uses["vision"] = {.slot_time = Duration::seconds(12), .cost = Money::micros(5)};
  const auto numbers = tenant_numbers(state, Instant());
  CHECK(numbers[0].use == core::TenantUse{.slot_time = Duration::seconds(42), .cost = Money::micros(12)});
  CHECK(numbers[1].use == core::TenantUse{.slot_time = Duration::seconds(12), .cost = Money::micros(5)});
}

TEST_CASE("a budget tells what it does to jobs next, and when: before its limit, and if it is in this window") {
  using core::BudgetAction;
  const auto hours = [](int count) { return Instant() + Duration::seconds(3600) * count; };
  const auto dollars = [](std::int64_t count) { return Money::micros(count * 1'000'000); };
  core::BudgetAccount account{
      .budget = {.limit = dollars(500),
                 .window = core::BudgetWindow::kDay,
                 .thresholds = {{50, BudgetAction::kWarn}, {80, BudgetAction::kPause}, {100, BudgetAction::kPause}}},
      .spent = dollars(300),
      .rate = dollars(100),
      .window_ends_us = hours(24).count_us(),
      .reached = 1};
  const core::ClusterState state{};
  const BudgetNumbers numbers = budget_numbers(state, "lab", account, hours(0));
  CHECK(numbers.limit_at == hours(2));
  REQUIRE(numbers.next);
  CHECK(numbers.next->threshold == core::BudgetThreshold{80, BudgetAction::kPause});
  CHECK(numbers.next->at == hours(1));
  // Another pause is nothing more, but to stop jobs is.
  account.reached = 2;
  account.spent = dollars(400);
  CHECK_FALSE(budget_numbers(state, "lab", account, hours(0)).next);
  account.budget.thresholds.back().action = BudgetAction::kStop;
  REQUIRE(budget_numbers(state, "lab", account, hours(0)).next);
  CHECK(budget_numbers(state, "lab", account, hours(0)).next->at == hours(1));
  account.window_ends_us = hours(1).count_us();
  CHECK_FALSE(budget_numbers(state, "lab", account, hours(0)).next);
  CHECK_FALSE(budget_numbers(state, "lab", account, hours(0)).limit_at);
}

}  // namespace tidepool::live::http
