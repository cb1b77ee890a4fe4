#include "policies/host/tenant_rows.hpp"

#include <map>

#include "core/tenants/tenant_needs.hpp"

namespace tidepool::policies::host {
namespace {

// Those of leaves that a plan has found to have all that they can use.
bool is_satisfied(const core::ClusterState& state, const std::string& tenant) {
  const auto plan = state.plan.tenants.find(tenant);
  return plan != state.plan.tenants.end() && plan->second.satisfied;
}

}  // namespace

void add_to_parents(std::vector<cluster::TenantRow>& rows) {
  for (std::size_t i = rows.size(); i-- > 0;) {
    if (rows[i].parent < 0) continue;
    cluster::TenantRow& parent = rows[static_cast<std::size_t>(rows[i].parent)];
    parent.wanted += rows[i].wanted;
    parent.held += rows[i].held;
    parent.loan += rows[i].loan;
  }
}

std::vector<cluster::TenantRow> rows_of(const core::TenantTree& tree) {
  std::vector<cluster::TenantRow> rows;
  std::map<std::string, int> place;
  for (const core::Tenant& tenant : tree.tenants) {
    cluster::TenantRow& row = rows.emplace_back();
    row.name = tenant.name;
    row.guarantee = tenant.guarantee;
    row.weight = tenant.weight;
    row.borrow = tenant.borrow;
    row.lend = tenant.lend;
    if (!tenant.parent.empty()) {
      row.parent = place.at(tenant.parent);
      rows[static_cast<std::size_t>(row.parent)].is_leaf = false;
    }
    place.emplace(tenant.name, static_cast<int>(rows.size()) - 1);
  }
  return rows;
}

std::vector<cluster::TenantRow> tenant_rows(const core::PlanRequest& request) {
  const core::ClusterState& state = request.view.state;
  std::vector<cluster::TenantRow> rows = rows_of(*state.tenants);
  std::map<std::string, cluster::TenantRow*> row_of;
  for (cluster::TenantRow& row : rows) {
    row_of.emplace(row.name, &row);
    const auto plan = state.plan.tenants.find(row.name);
    if (plan != state.plan.tenants.end()) row.loan = plan->second.loan;
  }
  for (const auto& [id, job] : state.jobs) {
    const auto found = row_of.find(job->spec.tenant);
    if (found == row_of.end()) continue;
    cluster::TenantRow& row = *found->second;
    row.held += core::slots_kept(state, *job);
    if (!request.counts(*job)) continue;
    const core::JobNeed need = core::need_of(state, *job, request.has_own_policy(*job));
    row.wanted += job->planned && is_satisfied(state, row.name) ? need.given : need.most;
  }
  add_to_parents(rows);
  return rows;
}

}  // namespace tidepool::policies::host
