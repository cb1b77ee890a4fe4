#include "core/state/account.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "base/accrual.hpp"
#include "base/calendar.hpp"
#include "core/state/ledger.hpp"
#include "core/state/utc_time.hpp"

namespace tidepool::core {
namespace {

// Calls `change` with the accounts of the job's tenant and of the tenants above it, and with the job's cost per hour.
void for_budgets(ClusterState& state, const Job& job, auto&& change) {
  if (state.budgets.empty()) return;
  std::optional<Money> rate;  // a look at all its workers
  for (const Tenant* tenant : state.tenants->path_to(job.spec.tenant)) {
    BudgetAccount* account = state.budgets.edit_if_there(tenant->name);
    if (account == nullptr) continue;
    if (!rate) rate = price_per_hour(state, job);
    change(*account, *rate);
  }
}

struct Held {
  HeldSlots all;
  HeldSlots booting;  // of those
};

Held held_by(const ClusterState& state, const Job& job) {
  const Stepping steps(job);
  return {.all = held_slots(state, job, [](const Worker&) { return true; }),
          .booting = held_slots(state, job, [&](const Worker& worker) { return !steps(worker); })};
}

void charge_part(Account& account, const Held& held, Instant until) {
  const Duration passed = until - account.charged_until;
  account.charged_until = until;
  account.slot_time += passed * held.all.slots;
  accrue(held.all.rate, passed, account.cost, account.cost_remainder);
  if (held.booting.slots == 0) return;
  Used& booting = account.overheads[Overhead::kBootAndResize];
  booting.slot_time += passed * held.booting.slots;
  accrue(held.booting.rate, passed, booting.cost, account.boot_remainder);
}

// The account at the end of the newest past day; null: none.
const DayMark* mark_at(const Account& account, std::int64_t day) {
  const auto after = std::upper_bound(account.days.begin(), account.days.end(), day,
                                      [](std::int64_t wanted, const DayMark& mark) { return wanted < mark.day; });
  return after == account.days.begin() ? nullptr : &*std::prev(after);
}

// The day up to which, or in which, the account is charged: the next charge belongs to it.
std::int64_t charged_day(const ClusterState& state, const Account& account) {
  return day_in_utc(state, account.charged_until);
}

// `account` is the job's, or a copy of it.
void charge_account(const ClusterState& state, const Job& job, Instant until, Account& account) {
  if (until <= account.charged_until) return;
  const Held held = held_by(state, job);
  while (true) {
    const std::int64_t day = charged_day(state, account);
    const Instant end = at_utc(state, (day + 1) * kDayMicros);
    if (until <= end) break;
    charge_part(account, held, end);
    const Duration marked = account.days.empty() ? Duration() : account.days.back().slot_time;
    if (account.slot_time > marked) {
      account.days.push_back(
          {.day = day, .slot_time = account.slot_time, .cost = account.cost, .overheads = account.overheads});
    }
    if (held.all.slots == 0) break;  // the following days are the same
  }
  charge_part(account, held, until);
}

}  // namespace

void charge(const ClusterState& state, Job& job, Instant until) {
  charge_account(state, job, until, job.account);
}

Account account_at(const ClusterState& state, const Job& job, Instant until) {
  Account account = job.account;
  charge_account(state, job, until, account);
  return account;
}

Used used_until(const ClusterState& state, const Account& account, std::int64_t day) {
  if (day >= charged_day(state, account)) return {account.slot_time, account.cost};
  const DayMark* mark = mark_at(account, day);
  return mark == nullptr ? Used() : Used{mark->slot_time, mark->cost};
}

Overheads overheads_until(const ClusterState& state, const Account& account, std::int64_t day) {
  if (day >= charged_day(state, account)) return account.overheads;
  const DayMark* mark = mark_at(account, day);
  return mark == nullptr ? Overheads() : mark->overheads;
}

void charge_with_tenant(ClusterState& state, Job& job, Instant until) {
  const Used before{job.account.slot_time, job.account.cost};
  charge(state, job, until);
  if (state.tenants->empty() || job.account.slot_time == before.slot_time) return;
  TenantUse& use = state.tenant_uses[job.spec.tenant];
  use.slot_time += job.account.slot_time - before.slot_time;
  use.cost += job.account.cost - before.cost;
}

int slots_in_use(const ClusterState& state, const Job& job) {
  return static_cast<int>(held_slots(state, job, [](const Worker&) { return true; }).slots);
}

void leave_budgets(ClusterState& state, const Job& job, Instant at) {
  for_budgets(state, job, [&](BudgetAccount& account, Money rate) {
    count_until(account, at);
    account.rate = account.rate - rate;
  });
}

void join_budgets(ClusterState& state, const Job& job) {
  for_budgets(state, job, [](BudgetAccount& account, Money rate) { account.rate += rate; });
}

Money price_per_hour(const ClusterState& state, const Job& job) {
  return held_slots(state, job, [](const Worker&) { return true; }).rate;
}

}  // namespace tidepool::core
