// The fields of tenants, of a plan's results for them, and of a plan's changes to them. Private to the core's codecs.
#pragma once

#include "base/codec/archive.hpp"
#include "core/money/budget.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/plan.hpp"
#include "core/state/tenant_settings.hpp"
#include "core/state/tenants.hpp"

namespace tidepool::core {

// Each enum value as its text.
template <class Enum, std::size_t N>
auto names_by_text(const std::array<Enum, N>& values) {
  std::array<codec::EnumName<Enum>, N> names{};
  for (std::size_t i = 0; i < N; ++i) names[i] = {values[i], to_text(values[i])};
  return names;
}
inline auto names_of(BudgetWindow) {
  return names_by_text(kBudgetWindows);
}
inline auto names_of(BudgetAction) {
  return names_by_text(kBudgetActions);
}

void fields(auto& archive, codec::Like<BudgetThreshold> auto& threshold) {
  archive("percent", threshold.percent);
  archive("action", threshold.action);
}

void fields(auto& archive, codec::Like<Budget> auto& budget) {
  archive("limit", budget.limit);
  archive("window", budget.window);
  archive("thresholds", budget.thresholds);
}

void fields(auto& archive, codec::Like<BudgetAccount> auto& account) {
  archive("budget", account.budget);
  archive("spent", account.spent);
  archive("remainder", account.remainder);
  archive("counted_until", account.counted_until);
  archive("rate", account.rate);
  archive("window_ends_us", account.window_ends_us);
  archive("reached", account.reached);
}

void fields(auto& archive, codec::Like<BudgetHold> auto& hold) {
  archive("action", hold.action);
  archive("tenant", hold.tenant);
  archive("limit", hold.limit);
  archive("percent", hold.percent);
  archive("window_ends_us", hold.window_ends_us);
  archive("pinned_size", hold.pinned_size);
}

void fields(auto& archive, codec::Like<JobDefaults> auto& defaults) {
  archive("priority", defaults.priority);
  archive("preemptible", defaults.preemptible);
  archive("slot_types", defaults.slot_types);
  archive("selector", defaults.selector);
  archive("min_runtime", defaults.min_runtime);
  archive("cooldown", defaults.cooldown);
  archive("grace", defaults.grace);
  archive("efficiency_threshold", defaults.efficiency_threshold);
  archive("price_cap", defaults.price_cap);
  archive("checkpoint_every", defaults.checkpoint_every);
  archive("checkpoint_dir", defaults.checkpoint_dir);
  archive("checkpoint_keep", defaults.checkpoint_keep);
  archive("max_duration", defaults.max_duration);
  archive("max_restarts", defaults.max_restarts);
}

void fields(auto& archive, codec::Like<Tenant> auto& tenant) {
  archive("name", tenant.name);
  archive("parent", tenant.parent);
  for_each_setting([&](const auto& row) { archive(row.name, tenant.*row.field); });
  archive("budget", tenant.budget);
  archive("defaults", tenant.defaults);
}

void fields(auto& archive, codec::Like<ChurnLimit> auto& churn) {
  archive("per_job", churn.per_job);
  archive("pool", churn.pool);
  archive("window", churn.window);
}

void fields(auto& archive, codec::Like<TenantTree> auto& tree) {
  archive("tenants", tree.tenants);
  archive("half_life", tree.half_life);
  archive("rebalance_every", tree.rebalance_every);
  archive("preempt_after", tree.preempt_after);
  archive("churn", tree.churn);
}

void fields(auto& archive, codec::Like<TenantUse> auto& use) {
  archive("slot_time", use.slot_time);
  archive("cost", use.cost);
}

void fields(auto& archive, codec::Like<TenantPlan> auto& plan) {
  archive("entitled", plan.entitled);
  archive("wanted", plan.wanted);
  archive("sated", plan.satisfied);  // its name in journals
  archive("of_types", plan.of_types);
  archive("lacks_slots", plan.lacks_slots);
  archive("loan", plan.loan);
  archive("counted_use", plan.counted_use);
  archive("mark", plan.mark);
}

void fields(auto& archive, codec::Like<TenantChange> auto& change) {
  archive("tenant", change.tenant);
  archive("now", change.now);
}

// All data about tenants in a state, as one object of its head.
struct StoredTenants {
  TenantTree tree;
  TenantUses uses;
  TenantPlans plans;
  std::optional<Instant> loans_counted;
  BudgetAccounts budgets;
};
void fields(auto& archive, codec::Like<StoredTenants> auto& stored) {
  archive("tree", stored.tree);
  archive("uses", stored.uses);
  archive("plans", stored.plans);
  archive("loans_counted", stored.loans_counted);
  archive("budgets", stored.budgets);
}

// Trees of earlier versions lack these fields.
inline void add_missing_fields(nlohmann::json& tree) {
  if (!tree.is_object() || !tree.contains("tenants") || !tree["tenants"].is_array()) return;
  tree.emplace("preempt_after", codec::encode(Duration()));
  tree.emplace("churn", nullptr);
  const Tenant blank;
  for (auto& tenant : tree["tenants"]) {
    if (!tenant.is_object()) continue;
    tenant.emplace("exclusive_nodes", true);  // any job could request exclusive nodes
    for_each_setting([&](const auto& row) { tenant.emplace(row.name, codec::encode(blank.*row.field)); });
    tenant.emplace("budget", nullptr);
    if (!tenant.contains("defaults")) tenant["defaults"] = codec::encode(JobDefaults{});
  }
}

// Tenant plans of earlier versions lack these fields, or state only that some slots are lacking.
inline void add_missing_plan_fields(nlohmann::json& plan) {
  if (!plan.is_object()) return;
  plan.emplace("of_types", nlohmann::json::object());
  const auto lacks = plan.find("lacks_type");
  plan.emplace("lacks_slots", lacks != plan.end() && *lacks == true ? 1 : 0);
  plan.erase("lacks_type");
}

inline nlohmann::json encode_tenants(const ClusterState& state) {
  return codec::encode(StoredTenants{static_cast<const TenantTree&>(*state.tenants), state.tenant_uses,
                                     state.plan.tenants, state.plan.loans_counted, state.budgets});
}

inline Status take_tenants(nlohmann::json value, ClusterState& state) {
  StoredTenants stored;
  if (value.is_object()) value.emplace("budgets", nlohmann::json::object());
  if (value.contains("tree")) add_missing_fields(value["tree"]);
  if (value.contains("plans")) {
    for (auto& plan : value["plans"]) add_missing_plan_fields(plan);
  }
  TP_TRY(codec::decode(value, "/tenants", stored));
  TP_TRY(check_tenants(stored.tree));
  state.tenants = std::move(stored.tree);
  state.tenant_uses = std::move(stored.uses);
  state.plan.tenants = std::move(stored.plans);
  state.plan.loans_counted = stored.loans_counted;
  state.budgets = std::move(stored.budgets);
  return ok_status();
}

// A decision's changes to tenants, as one object of the decision.
struct StoredTenantChanges {
  std::vector<TenantChange> changes;
  bool counts_loans = false;
};
void fields(auto& archive, codec::Like<StoredTenantChanges> auto& stored) {
  archive("changes", stored.changes);
  archive("counts_loans", stored.counts_loans);
}

}  // namespace tidepool::core
