#include "schedulerd/live/http/numbers/budget_numbers.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/state/listed_price.hpp"
#include "core/state/utc_time.hpp"

namespace tidepool::live::http {
namespace {

// What jobs of a tenant, and of those below it, hold, by what sets the price of their slots.
class HeldByPrice {
 public:
  HeldByPrice(const core::ClusterState& state, const std::string& tenant)
      : state_(state), pools_(state.pools.by_node()) {
    std::set<std::string> counted = {tenant};
    for (const core::Tenant& each : state.tenants->tenants) {  // each stands after its parent
      if (counted.contains(each.parent)) counted.insert(each.name);
    }
    for (const auto& [id, job] : state.jobs) {
      if (counted.contains(job->spec.tenant)) add(*job);
    }
  }

  [[nodiscard]] Money rate_at(std::int64_t unix_us) const {
    Money rate;
    for (const auto& [kind, slots] : slots_) {
      const auto by_rule = core::price_by(kind.first, unix_us);
      rate += Money::micros((by_rule ? by_rule->price : kind.second).count_micros() * slots);
    }
    return rate;
  }

 private:
  void add(const core::Job& job) {
    for (const WorkerId id : job.membership.workers) {
      const core::Worker* worker = state_.find_worker(id);
      const core::Node* node = worker == nullptr ? nullptr : state_.find_node(worker->node);
      if (node == nullptr || worker->is_gone()) continue;
      const auto pool = pools_.find(node->id);
      const core::NodePool* of_node = pool == pools_.end() ? nullptr : pool->second;
      slots_[{core::price_source(state_.prices->list, *node, of_node), core::own_price(state_, *node)}] +=
          static_cast<std::int64_t>(worker->slots.size());
    }
  }

  const core::ClusterState& state_;
  const std::map<NodeId, const core::NodePool*> pools_;
  std::map<std::pair<core::PriceSource, Money>, std::int64_t> slots_;  // Money: their own price
};

using Moments = std::vector<std::optional<Instant>>;

// Counts on to the end of the window, price by price. Gives when each amount is reached, if it is in this window.
Moments run_on(const core::ClusterState& state, const std::string& tenant, core::BudgetAccount& account, Instant end,
               const std::vector<Money>& amounts) {
  Moments reached(amounts.size());
  const auto count_on = [&](Instant until) {
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      const auto at = core::reaches_at(account, amounts[i]);
      if (!reached[i] && at && *at < until) reached[i] = at;
    }
    core::count_until(account, until);
  };
  const PriceList& list = state.prices->list;
  if (list.empty()) {
    count_on(end);
    return reached;
  }
  const HeldByPrice held(state, tenant);
  while (account.counted_until < end) {
    const std::int64_t from_us = core::utc_us(state, account.counted_until);
    account.rate = held.rate_at(from_us);
    const auto change = next_change_us(list, from_us);
    count_on(change ? std::min(end, core::at_utc(state, *change)) : end);
  }
  return reached;
}

// The first that does more to jobs than what is in force.
std::optional<core::BudgetThreshold> next_threshold(const core::BudgetAccount& account) {
  const auto now = core::in_force(account);
  const auto& thresholds = account.budget.thresholds;
  const auto first = thresholds.begin() + static_cast<std::ptrdiff_t>(account.reached);
  const auto next = std::find_if(first, thresholds.end(), [&](const core::BudgetThreshold& each) {
    return each.action > (now ? now->action : core::BudgetAction::kWarn);
  });
  return next == thresholds.end() ? std::nullopt : std::optional(*next);
}

}  // namespace

BudgetNumbers budget_numbers(const core::ClusterState& state, const std::string& tenant,
                             const core::BudgetAccount& account, Instant now) {
  const Instant end = core::at_utc(state, account.window_ends_us);
  core::BudgetAccount counted = account;
  core::count_until(counted, now);
  BudgetNumbers numbers{.spent = counted.spent,
                        .rate = counted.rate,
                        .expected = {},
                        .window_ends = end,
                        .limit_at = std::nullopt,
                        .in_force = core::in_force(account)};
  const bool is_spent = counted.spent >= counted.budget.limit;
  const auto next = next_threshold(account);
  std::vector<Money> amounts = {counted.budget.limit};
  if (next) amounts.push_back(core::amount_of(counted.budget, *next));
  const Moments reached = run_on(state, tenant, counted, end, amounts);
  if (!is_spent) numbers.limit_at = reached.front();
  if (next && reached.back()) numbers.next = {.threshold = *next, .at = *reached.back()};
  numbers.expected = counted.spent;
  return numbers;
}

}  // namespace tidepool::live::http
