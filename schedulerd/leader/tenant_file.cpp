#include "schedulerd/leader/tenant_file.hpp"

#include <optional>

#include "schedulerd/leader/job_defaults.hpp"

namespace tidepool::leader {
namespace {

// The words have been checked where they were read.
core::Budget to_core(const api::v1::BudgetFields& fields) {
  core::Budget budget{.limit = fields.limit};
  for (const core::BudgetWindow window : core::kBudgetWindows) {
    if (core::to_text(window) == fields.window) budget.window = window;
  }
  for (const auto& [percent, word] : fields.thresholds) {
    core::BudgetThreshold threshold{.percent = percent};
    for (const core::BudgetAction action : core::kBudgetActions) {
      if (core::to_text(action) == word) threshold.action = action;
    }
    budget.thresholds.push_back(threshold);
  }
  return budget;
}

}  // namespace

core::TenantTree to_core(const api::v1::TenantTreeV1& file) {
  core::TenantTree tree;
  tree.half_life = file.half_life;
  tree.rebalance_every = file.rebalance_every;
  tree.preempt_after = file.preempt_after;
  if (const auto& churn = file.churn) {
    tree.churn = {.per_job = churn->per_job, .pool = churn->pool, .window = churn->window};
  }
  for (const api::v1::TenantFields& fields : file.tenants) {
    tree.tenants.push_back({.name = fields.name,
                            .parent = fields.parent,
                            .guarantee = fields.guarantee,
                            .guarantee_by_type = fields.guarantee_by_type,
                            .weight = fields.weight,
                            .borrow = fields.borrow,
                            .lend = fields.lend,
                            .priority_max = fields.priority_max,
                            .job_slots_max = fields.job_slots_max,
                            .job_price_max = fields.job_price_max,
                            .job_grace_max = fields.job_grace_max,
                            .job_hold_max = fields.job_hold_max,
                            .jobs_max = fields.jobs_max,
                            .exclusive_nodes = fields.exclusive_nodes,
                            .budget = fields.budget ? std::optional(to_core(*fields.budget)) : std::nullopt,
                            .notice_extension = fields.notice_extension,
                            .notice_refusal = fields.notice_refusal,
                            .preempt_after = fields.preempt_after,
                            .defaults = to_core_defaults(fields.defaults)});
  }
  return tree;
}

}  // namespace tidepool::leader
