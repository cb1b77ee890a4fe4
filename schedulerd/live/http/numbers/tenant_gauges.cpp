#include "schedulerd/live/http/numbers/tenant_gauges.hpp"

#include <set>

#include "core/state/tenant_jobs.hpp"
#include "schedulerd/live/http/numbers/budget_numbers.hpp"
#include "schedulerd/live/http/numbers/tenant_numbers.hpp"

namespace tidepool::live::http {
namespace {

prometheus::Labels of_tenant(const std::string& name) {
  return {{"tenant", name}};
}

}  // namespace

TenantGauges::TenantGauges(prometheus::Registry& registry)
    : guaranteed_(registry, "sched_tenant_guaranteed_slots", "Slots that a tenant can have at any time"),
      held_(registry, "sched_tenant_held_slots", "Slots that a tenant's jobs hold"),
      entitled_(registry, "sched_tenant_entitled_slots", "Slots that a tenant may have now"),
      wanted_(registry, "sched_tenant_wanted_slots", "Slots that a tenant's jobs could use, as far as known"),
      jobs_(registry, "sched_tenant_jobs", "Jobs that have not ended, of a tenant with a limit of them"),
      jobs_max_(registry, "sched_tenant_jobs_max", "Jobs that have not ended that a tenant may have"),
      budget_limit_(registry, "sched_tenant_budget_limit", "What a tenant may spend in a window of its budget"),
      budget_spent_(registry, "sched_tenant_budget_spent", "What a tenant has spent in the present window"),
      budget_expected_(registry, "sched_tenant_budget_expected",
                       "What a tenant will have spent by the end of the window at its present rate") {}

void TenantGauges::set(const core::ClusterState& state, Instant now, bool shared) {
  set_budgets(state, now);
  set_jobs(state);
  LabelledGauges::Values guaranteed;
  LabelledGauges::Values held;
  LabelledGauges::Values entitled;
  LabelledGauges::Values wanted;
  const auto& tenants = state.tenants->tenants;
  const auto numbers = tenant_numbers(state, now);
  std::set<std::string> parents;
  for (const core::Tenant& tenant : tenants) parents.insert(tenant.parent);
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    const std::string& name = tenants[i].name;
    if (parents.contains(name)) continue;
    guaranteed[of_tenant(name)] = tenants[i].guarantee;
    held[of_tenant(name)] = numbers[i].held;
    if (!shared) continue;
    entitled[of_tenant(name)] = numbers[i].entitled;
    wanted[of_tenant(name)] = numbers[i].wanted;
  }
  guaranteed_.set(guaranteed);
  held_.set(held);
  entitled_.set(entitled);
  wanted_.set(wanted);
}

void TenantGauges::set_jobs(const core::ClusterState& state) {
  LabelledGauges::Values jobs;
  LabelledGauges::Values most;
  for (const core::Tenant& tenant : state.tenants->tenants) {
    if (!tenant.jobs_max) continue;
    jobs[of_tenant(tenant.name)] = core::jobs_of(state.tenant_jobs, tenant.name);
    most[of_tenant(tenant.name)] = *tenant.jobs_max;
  }
  jobs_.set(jobs);
  jobs_max_.set(most);
}

void TenantGauges::set_budgets(const core::ClusterState& state, Instant now) {
  LabelledGauges::Values limit;
  LabelledGauges::Values spent;
  LabelledGauges::Values expected;
  for (const auto& [name, account] : state.budgets) {
    const BudgetNumbers budget = budget_numbers(state, name, account, now);
    limit[of_tenant(name)] = account.budget.limit.to_units();
    spent[of_tenant(name)] = budget.spent.to_units();
    expected[of_tenant(name)] = budget.expected.to_units();
  }
  budget_limit_.set(limit);
  budget_spent_.set(spent);
  budget_expected_.set(expected);
}

}  // namespace tidepool::live::http
