#include "core/facts/price_facts.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/facts/budget_facts.hpp"
#include "core/facts/pool_facts.hpp"
#include "core/state/account.hpp"
#include "core/state/listed_price.hpp"
#include "core/state/utc_time.hpp"

namespace tidepool::core {
namespace {

// The list's prices for all nodes and pools, and which of them differ from the present prices.
struct Repricing {
  std::int64_t unix_us = 0;  // at that time
  Prices prices = {};
  std::vector<std::pair<NodeId, Money>> nodes = {};
  std::vector<std::pair<std::string, Money>> pools = {};
};

// `pool`: the node's pool; null = it belongs to none.
void price_node(Repricing& found, const ClusterState& state, const Node& node, const NodePool* pool) {
  if (state.has_gone(node)) return;
  const Money own = own_price(state, node);
  const auto by_rule = price_by(price_source(found.prices.list, node, pool), found.unix_us);
  if (by_rule) found.prices.nodes.insert_or_assign(node.id, ListedPrice{own, by_rule->rule->name});
  const Money price = by_rule ? by_rule->price : own;
  if (price != node.price_per_slot_hour) found.nodes.emplace_back(node.id, price);
}

Repricing priced_by(PriceList list, const ClusterState& state, std::int64_t unix_us) {
  Repricing found{.unix_us = unix_us};
  found.prices.list = std::move(list);
  found.prices.next_change_us = next_change_us(found.prices.list, unix_us);
  const auto pools = found.prices.list.empty() ? std::map<NodeId, const NodePool*>() : state.pools.by_node();
  for (const auto& [id, node] : state.nodes) {
    const auto pool = pools.find(id);
    price_node(found, state, node, pool == pools.end() ? nullptr : pool->second);
  }
  for (const auto& [name, pool] : state.pools.pools) {
    const Money own = own_price(state, pool.spec);
    const auto by_rule = price_by(price_source(found.prices.list, pool.spec), unix_us);
    if (by_rule) found.prices.pools.emplace(name, ListedPrice{own, by_rule->rule->name});
    const Money price = by_rule ? by_rule->price : own;
    if (price != pool.spec.price_per_slot_hour) found.pools.emplace_back(name, price);
  }
  return found;
}

// The same if only the node, its pool and the set of pools have changed.
Repricing priced_now(const ClusterState& state, NodeId id, std::int64_t unix_us) {
  Repricing found{.unix_us = unix_us, .prices = *state.prices};
  found.prices.next_change_us = next_change_us(found.prices.list, unix_us);
  found.prices.nodes.erase(id);
  std::erase_if(found.prices.pools, [&](const auto& listed) { return !state.pools.pools.contains(listed.first); });
  const PoolNode* of_pool = state.pools.find_node(id);
  const NodePool* pool = of_pool == nullptr ? nullptr : state.pools.find(of_pool->pool);
  if (const Node* node = state.find_node(id)) price_node(found, state, *node, pool);
  return found;
}

IdSet<JobId> jobs_that_pay(const ClusterState& state, const Repricing& found) {
  IdSet<JobId> jobs;
  for (const auto& [id, price] : found.nodes) {
    for (const WorkerId owner : state.find_node(id)->owners) {
      if (owner) jobs.insert(state.find_worker(owner)->job);
    }
  }
  return jobs;
}

void set_prices(StateChange& change, Repricing found) {
  for (const auto& [id, price] : found.nodes) change.node(id).price_per_slot_hour = price;
  for (const auto& [name, price] : found.pools) {
    change.state().pools.pools.at(name).spec.price_per_slot_hour = price;
  }
  change.state().prices = std::move(found.prices);
  if (found.nodes.empty() && found.pools.empty()) return;
  change.prices_changed();
  note_outside_change(change);
}

void set_now(StateChange& change, Repricing found) {
  for (const JobId id : jobs_that_pay(change.state(), found)) (void)change.job(id);
  set_prices(change, std::move(found));
}

// The rules whose price changes at that time.
nlohmann::json told_at(const PriceList& list, std::int64_t unix_us) {
  nlohmann::json rules = nlohmann::json::array();
  for (const PriceRule& rule : list.rules) {
    const auto price = price_at(rule, unix_us);
    if (price && price != price_at(rule, unix_us - 1)) {
      rules.push_back({{"rule", rule.name}, {"price", to_text(*price)}});
    }
  }
  return rules;
}

// A change that was due at `at`, possibly in the past: this fact has not written to a job yet.
void set_then(StateChange& change, Instant at) {
  ClusterState& state = change.state();
  Repricing found = priced_by(state.prices->list, state, utc_us(state, at));
  const IdSet<JobId> jobs = jobs_that_pay(state, found);
  change.budgets_changed();
  for (const JobId id : jobs) {
    Job& job = change.words_of(id);
    leave_budgets(state, job, at);
    charge_with_tenant(state, job, at);
  }
  change.emit("prices.changed", {{"at_unix", utc_us(state, at) / 1'000'000},
                                 {"prices", told_at(state.prices->list, utc_us(state, at))},
                                 {"nodes", found.nodes.size()}});
  set_prices(change, std::move(found));
  change.settle_pool(at);
  for (const JobId id : jobs) join_budgets(state, *state.find_job(id));
}

}  // namespace

Status apply(StateChange& change, const PricesConfigured& fact) {
  TP_TRY(check_price_list(fact.list));
  const ClusterState& state = change.state();
  if (state.prices->list == fact.list) return ok_status();
  change.advance_time();
  set_now(change, priced_by(fact.list, state, utc_us(state, change.at())));
  std::vector<std::string> names;
  names.reserve(fact.list.rules.size());
  for (const PriceRule& rule : fact.list.rules) names.push_back(rule.name);
  change.emit("prices.configured", {{"rules", std::move(names)}});
  return ok_status();
}

bool follow_prices(StateChange& change) {
  bool window_ended = false;
  for (auto due = next_price_due(change.state()); due && *due <= change.at(); due = next_price_due(change.state())) {
    window_ended = count_budgets(change, *due) || window_ended;
    set_then(change, *due);
  }
  return window_ended;
}

void prices_until_now(StateChange& change) {
  if (!change.state().prices->list.empty()) change.advance_time();
}

void reprice(StateChange& change) {
  const ClusterState& state = change.state();
  if (state.prices->list.empty()) return;
  set_now(change, priced_by(state.prices->list, state, utc_us(state, change.at())));
}

void reprice(StateChange& change, NodeId node) {
  const ClusterState& state = change.state();
  if (!state.prices->list.empty()) set_now(change, priced_now(state, node, utc_us(state, change.at())));
}

void set_own_price(StateChange& change, Node& node, Money price) {
  node.price_per_slot_hour = price;
  if (!change.state().prices->nodes.contains(node.id)) return;
  Prices prices = *change.state().prices;
  prices.nodes.erase(node.id);
  change.state().prices = std::move(prices);
}

void restore_own_prices_of_pools(StateChange& change) {
  ClusterState& state = change.state();
  if (state.prices->pools.empty()) return;
  for (auto& [name, pool] : state.pools.pools) pool.spec.price_per_slot_hour = own_price(state, pool.spec);
  Prices prices = *state.prices;
  prices.pools.clear();
  state.prices = std::move(prices);
}

std::optional<Instant> next_price_due(const ClusterState& state) {
  const auto at = state.prices->next_change_us;
  return at ? std::optional(at_utc(state, *at)) : std::nullopt;
}

}  // namespace tidepool::core
