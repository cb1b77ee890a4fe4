#include "core/facts/budget_facts.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/first_after.hpp"
#include "core/facts/price_facts.hpp"
#include "core/state/account.hpp"
#include "core/state/job_state.hpp"
#include "core/state/utc_time.hpp"

namespace tidepool::core {
namespace {

void begin_window(const ClusterState& state, BudgetAccount& account, Instant at) {
  account.window_ends_us = next_window_us(account.budget.window, utc_us(state, at));
}

// A stronger action, or the same for longer: so the reason given for the job is true until it may continue.
bool holds_more(const BudgetHold& hold, const BudgetHold& than) {
  if (hold.action != than.action) return hold.action > than.action;
  return hold.window_ends_us > than.window_ends_us;
}

nlohmann::json account_data(const BudgetAccount& account) {
  return {{"limit", to_text(account.budget.limit)},
          {"window", to_text(account.budget.window)},
          {"spent", to_text(account.spent)},
          {"window_ends_unix", account.window_ends_us / 1'000'000}};
}

void reach_next(StateChange& change, const std::string& tenant, BudgetAccount& account) {
  const BudgetThreshold& threshold = account.budget.thresholds[account.reached++];
  nlohmann::json data = account_data(account);
  data["tenant"] = tenant;
  data["percent"] = threshold.percent;
  data["action"] = to_text(threshold.action);
  change.emit_of_tenant("budget.reached", tenant, std::move(data));
}

using Thresholds = std::vector<BudgetThreshold>;

// Reports all thresholds reached by the counted spending, except those that were reported before (`told`).
void reach_spent(StateChange& change, const std::string& tenant, BudgetAccount& account, const Thresholds& told = {}) {
  const Thresholds& thresholds = account.budget.thresholds;
  while (account.reached < thresholds.size()) {
    const BudgetThreshold& next = thresholds[account.reached];
    if (account.spent < amount_of(account.budget, next)) return;
    if (std::find(told.begin(), told.end(), next) == told.end()) {
      reach_next(change, tenant, account);
    } else {
      ++account.reached;
    }
  }
}

// Thresholds that were reached while the daemon was down are reported; their actions end with the window.
bool tell_ended_windows(StateChange& change, const std::string& tenant, BudgetAccount& account, Instant until) {
  return end_windows(change.state(), account, until, [&] {
    reach_spent(change, tenant, account);
    nlohmann::json data = account_data(account);
    data["tenant"] = tenant;
    change.emit_of_tenant("budget.renewed", tenant, std::move(data));
  });
}

void set_hold(StateChange& change, const Job& known, std::optional<BudgetHold> hold) {
  if (known.hold.has_value() == hold.has_value() && (!hold || is_same(*known.hold, *hold))) return;
  Job& job = change.job(known.id);
  if (job.hold && job.hold->pinned_size > 0) job.requests.pinned_size = job.hold->pinned_size;
  job.hold = std::move(hold);
  if (job.hold && job.hold->action == BudgetAction::kShrink) {
    job.hold->pinned_size = std::exchange(job.requests.pinned_size, 0);
  }
  change.capacity_changed();
}

void hold_jobs(StateChange& change) {
  const ClusterState& state = change.state();
  std::map<std::pair<std::string, bool>, std::optional<BudgetHold>> holds;  // by leaf, and whether it stops
  std::vector<std::pair<JobId, std::optional<BudgetHold>>> held;
  for (const auto& [id, job] : state.jobs) {
    if (is_final(job->state())) continue;
    const bool can_stop = can_be_stopped(*job);
    const auto [found, is_new] = holds.try_emplace({job->spec.tenant, can_stop});
    if (is_new) found->second = hold_of(*state.tenants, state.budgets, job->spec.tenant, can_stop);
    if (job->hold || found->second) held.emplace_back(id, found->second);
  }
  for (auto& [id, hold] : held) set_hold(change, *state.find_job(id), std::move(hold));
}

// A clock that was far ahead has begun windows of that later time. A window that has begun continues if it is the next
// one; the end of a later window is not awaited. Returns whether there was any.
bool leave_far_windows(StateChange& change) {
  bool has_left = false;
  const std::int64_t now_us = utc_us(change.state(), change.at());
  change.budgets_changed();
  change.state().budgets.edit_all([&](const std::string&, BudgetAccount& account) {
    const std::int64_t end = next_window_us(account.budget.window, now_us);
    if (account.window_ends_us <= next_window_us(account.budget.window, end)) return;
    account.window_ends_us = end;
    has_left = true;
  });
  return has_left;
}

// Returns whether anything was due.
bool follow_account(StateChange& change, const std::string& tenant, BudgetAccount& account) {
  bool was_due = tell_ended_windows(change, tenant, account, change.at());
  const std::size_t before = account.reached;
  count_until(account, change.at());
  reach_spent(change, tenant, account);
  return was_due || account.reached > before;
}

// Returns whether anything was due in any account.
bool follow_accounts(StateChange& change) {
  bool was_due = false;
  change.budgets_changed();
  change.state().budgets.edit_all([&](const std::string& tenant, BudgetAccount& account) {
    was_due = follow_account(change, tenant, account) || was_due;
  });
  return was_due;
}

// Adds up what jobs hold from now on; jobs charged in this change are added when the change is over.
void count_rates(StateChange& change) {
  change.state().budgets.edit_all([](const std::string&, BudgetAccount& account) { account.rate = Money(); });
  for (const auto& [id, job] : change.state().jobs) {
    if (!change.charged().contains(id)) join_budgets(change.state(), *job);
  }
}

}  // namespace

BudgetSet set_budget(const ClusterState& state, const BudgetAccounts& before, const Tenant& tenant, Instant at) {
  const Budget& next = *tenant.budget;
  const auto known = before.find(tenant.name);
  const bool goes_on = known != before.end() && known->second.budget.window == next.window;
  BudgetSet set{.account = goes_on ? known->second : BudgetAccount{.counted_until = at}, .told = {}};
  BudgetAccount& account = set.account;
  count_until(account, at);
  if (account.budget.limit == next.limit) {
    const auto& thresholds = account.budget.thresholds;
    set.told = {thresholds.begin(), thresholds.begin() + static_cast<std::ptrdiff_t>(account.reached)};
  }
  account.budget = next;
  account.reached = 0;
  if (!goes_on) begin_window(state, account, at);
  return set;
}

bool end_windows(const ClusterState& state, BudgetAccount& account, Instant until,
                 const std::function<void()>& at_end) {
  bool has_ended = false;
  for (Instant end = at_utc(state, account.window_ends_us); end <= until; end = at_utc(state, account.window_ends_us)) {
    count_until(account, end);
    at_end();
    account.spent = Money();  // the remainder is kept, so that windows add up to the cost of the jobs
    account.reached = 0;
    begin_window(state, account, end);
    has_ended = true;
  }
  return has_ended;
}

bool can_be_stopped(const Job& job) {
  const bool is_stopped = job.hold && job.hold->action == BudgetAction::kStop;
  return is_stopped || !job.membership.workers.empty();
}

std::optional<BudgetHold> hold_of(const TenantsByName& tree, const BudgetAccounts& budgets, const std::string& tenant,
                                  bool can_stop) {
  std::optional<BudgetHold> strongest;
  for (const Tenant* above : tree.path_to(tenant)) {
    const auto found = budgets.find(above->name);
    if (found == budgets.end()) continue;
    const BudgetAccount& account = found->second;
    const auto reached = in_force(account);
    if (!reached) continue;
    const bool waits = reached->action == BudgetAction::kStop && !can_stop;
    BudgetHold hold{.action = waits ? BudgetAction::kPause : reached->action,
                    .tenant = above->name,
                    .limit = account.budget.limit,
                    .percent = reached->percent,
                    .window_ends_us = account.window_ends_us};
    if (!strongest || holds_more(hold, *strongest)) strongest = std::move(hold);
  }
  return strongest;
}

Status apply(StateChange& change, const UtcSet& fact) {
  prices_until_now(change);
  change.state().utc_us_at_zero = fact.unix_us_at_zero;
  reprice(change);
  if (!leave_far_windows(change)) return ok_status();
  change.advance_time();  // report what has been reached by now before it holds jobs
  hold_jobs(change);
  return ok_status();
}

void follow_tree(StateChange& change) {
  ClusterState& state = change.state();
  BudgetAccounts before = std::exchange(state.budgets, {});
  for (const Tenant& tenant : state.tenants->tenants) {
    if (!tenant.budget) continue;
    BudgetSet set = set_budget(state, before, tenant, change.at());
    reach_spent(change, tenant.name, set.account, set.told);
    state.budgets.emplace(tenant.name, std::move(set.account));
  }
  count_rates(change);
  (void)follow_accounts(change);
  hold_jobs(change);
}

bool count_budgets(StateChange& change, Instant until) {
  bool has_ended = false;
  change.budgets_changed();
  change.state().budgets.edit_all([&](const std::string& tenant, BudgetAccount& account) {
    has_ended = tell_ended_windows(change, tenant, account, until) || has_ended;
    count_until(account, until);
  });
  return has_ended;
}

void follow_budgets(StateChange& change, bool window_ended) {
  const auto due = change.next_budget_due();
  if (!window_ended && (!due || *due > change.at())) return;
  if (follow_accounts(change) || window_ended) hold_jobs(change);
}

void hold_if_spent(StateChange& change, Job& job) {
  const ClusterState& state = change.state();
  job.hold = hold_of(*state.tenants, state.budgets, job.spec.tenant, can_be_stopped(job));
}

std::optional<Instant> next_budget_due(const ClusterState& state) {
  FirstAfter first;
  for (const auto& [tenant, account] : state.budgets) {
    first.consider(at_utc(state, account.window_ends_us));
    first.consider(next_threshold_at(account));
  }
  return first.found();
}

}  // namespace tidepool::core
