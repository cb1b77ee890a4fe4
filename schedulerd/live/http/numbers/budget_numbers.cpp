#include "schedulerd/live/http/numbers/budget_numbers.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

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

// Counts on to the end of the window, price by price. Gives when the limit is reached, if it is in this window.
std::optional<Instant> run_on(const core::ClusterState& state, const std::string& tenant, core::BudgetAccount& account,
                              Instant end) {
  const PriceList& list = state.prices->list;
  const HeldByPrice held(state, tenant);
  std::optional<Instant> reached;
  while (account.counted_until < end) {
    const std::int64_t from_us = core::utc_us(state, account.counted_until);
    account.rate = held.rate_at(from_us);
    const auto change = next_change_us(list, from_us);
    const Instant until = change ? std::min(end, core::at_utc(state, *change)) : end;
    const auto at = core::reaches_at(account, account.budget.limit);
    if (!reached && at && *at < until) reached = at;
    core::count_until(account, until);
  }
  return reached;
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
  auto limit_at = core::reaches_at(counted, counted.budget.limit);
  if (state.prices->list.empty()) {
    core::count_until(counted, end);
  } else {
    limit_at = run_on(state, tenant, counted, end);
  }
  if (!is_spent && limit_at && *limit_at < end) numbers.limit_at = limit_at;
  numbers.expected = counted.spent;
  return numbers;
}

}  // namespace tidepool::live::http
