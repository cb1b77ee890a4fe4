// Budgets as arithmetic: calendar windows, exact amounts, and the microsecond at which one is reached.
#include <catch2/catch.hpp>

#include "base/calendar.hpp"
#include "base/rng.hpp"
#include "core/facts/budget_due_times.hpp"
#include "core/facts/budget_facts.hpp"
#include "core/money/budget.hpp"
#include "core/state/account.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

using core::BudgetWindow;

constexpr std::int64_t kHour_us = 3'600'000'000;
constexpr std::int64_t kDay_us = 24 * kHour_us;

std::string next_window(BudgetWindow window, std::int64_t unix_s) {
  return utc_text(core::next_window_us(window, unix_s * 1'000'000) / 1'000'000);
}

core::BudgetAccount account(std::int64_t rate_micros) {
  return {.budget = {.limit = Money::micros(1'000'000), .thresholds = {{100, core::BudgetAction::kPause}}},
          .rate = Money::micros(rate_micros)};
}

}  // namespace

TEST_CASE("windows begin at midnight UTC, on Mondays, and on the first of a month") {
  constexpr std::int64_t kLeapDay = 1'709'164'800;  // Thursday, 2024-02-29 00:00
  CHECK(next_window(BudgetWindow::kDay, kLeapDay) == "2024-03-01 00:00 UTC");
  CHECK(next_window(BudgetWindow::kDay, kLeapDay - 1) == "2024-02-29 00:00 UTC");
  CHECK(next_window(BudgetWindow::kWeek, kLeapDay) == "2024-03-04 00:00 UTC");
  CHECK(next_window(BudgetWindow::kWeek, kLeapDay + 4 * 86'400 - 1) == "2024-03-04 00:00 UTC");
  CHECK(next_window(BudgetWindow::kWeek, kLeapDay + 4 * 86'400) == "2024-03-11 00:00 UTC");
  CHECK(next_window(BudgetWindow::kMonth, kLeapDay) == "2024-03-01 00:00 UTC");
  CHECK(next_window(BudgetWindow::kMonth, kLeapDay - 60 * 86'400) == "2024-01-01 00:00 UTC");
  CHECK(next_window(BudgetWindow::kMonth, kLeapDay - 59 * 86'400) == "2024-02-01 00:00 UTC");
  CHECK(core::next_window_us(BudgetWindow::kDay, 0) == kDay_us);
  CHECK(core::next_window_us(BudgetWindow::kDay, -1) == 0);
}

TEST_CASE("an amount is reached in the microsecond in which its last millionth is spent") {
  // Three a hour: a millionth every 1,200 us.
  core::BudgetAccount spending = account(3'000'000);
  CHECK(core::reaches_at(spending, Money::micros(1)) == Instant::from_micros(1'200));
  CHECK(core::reaches_at(spending, Money::micros(1'000'000)) == Instant::from_micros(kHour_us / 3));
  core::count_until(spending, Instant::from_micros(1'199));
  CHECK(spending.spent == Money());
  CHECK(core::reaches_at(spending, Money::micros(1)) == Instant::from_micros(1'200));
  core::count_until(spending, Instant::from_micros(1'200));
  CHECK(spending.spent == Money::micros(1));
  core::count_until(spending, Instant::from_micros(600));  // it is counted that far already
  CHECK(spending.counted_until == Instant::from_micros(1'200));
  CHECK(spending.spent == Money::micros(1));
  // At seven an hour it does not come out even: the first microsecond by which it is all spent.
  core::BudgetAccount uneven = account(7'000'000);
  const auto at = core::reaches_at(uneven, Money::micros(1'000'000));
  REQUIRE(at);
  CHECK(at->count_us() == (kHour_us + 6) / 7);
  CHECK_FALSE(core::reaches_at(account(0), Money::micros(1)));
}

TEST_CASE("what is spent does not depend on how often it is counted, and is reached when it says") {
  for_each_seed("budget accounts", 200, [](std::uint64_t, Rng& rng) {
    core::BudgetAccount often = account(rng.between(1, 50'000'000'000));
    core::BudgetAccount once = often;
    const Money amount = Money::micros(rng.between(1, 5'000'000'000));
    const auto expected = core::reaches_at(once, amount);
    REQUIRE(expected);
    Instant at = often.counted_until;
    for (int i = 0; i < 50; ++i) {
      at = at + Duration::micros(rng.between(1, 100'000'000));
      core::count_until(often, at);
      if (at < *expected) REQUIRE(core::reaches_at(often, amount) == expected);
      REQUIRE((often.spent >= amount) == (at >= *expected));
    }
    core::count_until(once, at);
    REQUIRE(often.spent == once.spent);
    REQUIRE(often.remainder == once.remainder);
  });
}

TEST_CASE("a threshold is reached at its part of the limit, rounded up to a millionth") {
  const core::Budget budget{.limit = Money::micros(101), .thresholds = {{50, core::BudgetAction::kWarn}}};
  CHECK(core::amount_of(budget, budget.thresholds[0]) == Money::micros(51));
  CHECK(core::amount_of(budget, {100, core::BudgetAction::kStop}) == Money::micros(101));
}

TEST_CASE("a budget that contradicts itself is refused with what to do") {
  const auto refusal = [](const core::Budget& budget) {
    const Status status = core::check_budget(budget);
    return status.ok() ? std::string() : status.error().message;
  };
  CHECK(refusal({.limit = Money::micros(1), .thresholds = {{80, core::BudgetAction::kWarn}}}).empty());
  CHECK(refusal({.limit = Money::micros(1)}) == "budget: it needs a threshold, such as {percent: 100, action: pause}");
  CHECK(refusal({.limit = Money(), .thresholds = {{80, core::BudgetAction::kWarn}}}) == "budget: limit is above 0");
  CHECK_FALSE(refusal({.limit = Money::micros(1), .thresholds = {{80, {}}, {80, {}}}}).empty());
  CHECK_FALSE(refusal({.limit = Money::micros(1), .thresholds = {{1'001, {}}}}).empty());
}

TEST_CASE(
    "of budgets that do the same, a job is held by the one that is renewed last, and else by the one further up") {
  core::TenantTree tree;
  tree.tenants = {{.name = "lab"}, {.name = "vision", .parent = "lab"}};
  const core::TenantsByName by_name(std::move(tree));
  core::BudgetAccounts accounts = {{"lab", account(0)}, {"vision", account(0)}};
  accounts.edit_all([](const std::string&, core::BudgetAccount& each) {
    each.reached = 1;
    each.window_ends_us = kDay_us;
  });
  const auto holder = [&] { return core::hold_of(by_name, accounts, "vision", true).value().tenant; };
  CHECK(holder() == "lab");
  accounts.edit("vision").window_ends_us = 7 * kDay_us;
  CHECK(holder() == "vision");
  CHECK(core::hold_of(by_name, accounts, "vision", true)->window_ends_us == 7 * kDay_us);
  accounts.edit("lab").budget.thresholds[0].action = core::BudgetAction::kStop;
  CHECK(holder() == "lab");
  accounts.edit("lab").budget.thresholds[0].action = core::BudgetAction::kShrink;
  CHECK(holder() == "vision");
}

TEST_CASE("the budget that is due next is the first of all, whatever accounts change, come and go") {
  for_each_seed("budget dues", 20, [](std::uint64_t, Rng& rng) {
    core::ClusterState state;
    state.utc_us_at_zero = rng.between(0, kDay_us);
    core::BudgetDueTimes dues;
    for (int i = 0; i < 500; ++i) {
      const std::string tenant = "t" + std::to_string(rng.below(40));
      if (rng.chance(0.2)) {
        (void)state.budgets.erase(tenant);
      } else {
        core::BudgetAccount& each = state.budgets[tenant];
        each = account(rng.chance(0.3) ? 0 : rng.between(1, 9'000'000));
        each.reached = static_cast<std::size_t>(rng.between(0, 1));
        each.spent = Money::micros(rng.between(0, 1'500'000));
        each.counted_until = Instant::from_micros(rng.between(0, kDay_us));
        each.window_ends_us = rng.between(1, 3) * kDay_us;
      }
      dues.follow(state.budgets, tenant);
      if (rng.chance(0.02)) state.utc_us_at_zero = rng.between(0, kDay_us);
      REQUIRE(dues.next(state) == core::next_budget_due(state));
      if (rng.chance(0.01)) REQUIRE(core::BudgetDueTimes(state.budgets).next(state) == core::next_budget_due(state));
    }
  });
}

TEST_CASE("a copy of a state shares what it keeps of tenants, and keeps it as it was") {
  core::ClusterState state;
  state.budgets.emplace("lab", account(1));
  state.tenant_uses["lab"].cost = Money::micros(5);
  state.tenant_jobs["lab"] = 1;
  state.plan.tenants["lab"].entitled = 2;
  const core::ClusterState picture = state;
  CHECK(&*picture.budgets.find("lab") == &*state.budgets.find("lab"));
  CHECK(&*picture.tenant_uses.find("lab") == &*state.tenant_uses.find("lab"));
  CHECK(&*picture.tenant_jobs.find("lab") == &*state.tenant_jobs.find("lab"));
  CHECK(&*picture.plan.tenants.find("lab") == &*state.plan.tenants.find("lab"));
  state.budgets.edit("lab").spent = Money::micros(9);
  CHECK(picture.budgets.at("lab").spent == Money());
}

TEST_CASE("a job that cannot be stopped is held by the budget that is renewed last, though another stops the others") {
  core::TenantTree tree;
  tree.tenants = {{.name = "lab"}, {.name = "vision", .parent = "lab"}};
  const core::TenantsByName by_name(std::move(tree));
  core::BudgetAccounts accounts = {{"lab", account(0)}, {"vision", account(0)}};
  accounts.edit_all([](const std::string&, core::BudgetAccount& each) { each.reached = 1; });
  accounts.edit("lab").budget.thresholds[0].action = core::BudgetAction::kPause;
  accounts.edit("lab").window_ends_us = 30 * kDay_us;
  accounts.edit("vision").budget.thresholds[0].action = core::BudgetAction::kStop;
  accounts.edit("vision").window_ends_us = kDay_us;
  const auto stopped = core::hold_of(by_name, accounts, "vision", true);
  CHECK(stopped->tenant == "vision");
  CHECK(stopped->action == core::BudgetAction::kStop);
  const auto waits = core::hold_of(by_name, accounts, "vision", false);
  CHECK(waits->tenant == "lab");
  CHECK(waits->action == core::BudgetAction::kPause);
  CHECK(waits->window_ends_us == 30 * kDay_us);
  // A stop that is renewed last is a pause for it.
  accounts.edit("vision").window_ends_us = 31 * kDay_us;
  CHECK(core::hold_of(by_name, accounts, "vision", false)->tenant == "vision");
  CHECK(core::hold_of(by_name, accounts, "vision", false)->action == core::BudgetAction::kPause);
}

TEST_CASE("what a job costs is told day by day, and days add up to the whole") {
  Story story;
  story.node(2);
  const JobId id = story.running({.min = 2, .max = 2}, 2);
  const Instant began = story.job(id).last_start_at.value();
  const auto day_end = [](std::int64_t days) { return Instant::from_micros(days * kDay_us); };
  story.pass(day_end(2) + Duration::seconds(3'600) - story.now());
  story.park(id);
  const Instant left = story.now();
  // It waits over two midnights, and runs again.
  story.pass(Duration::seconds(2 * 86'400));
  story.learn(core::JobResumeRequested{id});
  story.settle(id);
  const Instant again = story.job(id).last_start_at.value();
  story.pass(Duration::seconds(60));
  core::Job job = story.job(id);
  core::charge(story.state(), job, story.now());
  const auto used = [&](std::int64_t day) {
    return core::used_until(story.state(), job.account, day).slot_time -
           core::used_until(story.state(), job.account, day - 1).slot_time;
  };
  CHECK(used(0) == (day_end(1) - began) * 2);
  CHECK(used(1) == Duration::micros(kDay_us) * 2);
  CHECK(used(2) == (left - day_end(2)) * 2);
  CHECK(used(3) == Duration());
  CHECK(used(4) == (story.now() - again) * 2);
  CHECK(used(5) == Duration());
  CHECK(job.account.days.size() == 3);
  CHECK(core::used_until(story.state(), job.account, 4).cost == job.account.cost);
  CHECK(core::used_until(story.state(), job.account, 1).cost ==
        Money::micros((day_end(2) - began).count_us() * 2 / 3'600));
}

}  // namespace tidepool::test
