#include "schedulerd/live/http/tenants/tenant_changes.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "api/v1/job_defaults.hpp"
#include "base/time.hpp"
#include "schedulerd/leader/job_defaults.hpp"
#include "schedulerd/live/http/settings/settings_changes.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

json or_null(const auto& value) {
  return value ? json(*value) : json(nullptr);
}

// Each default is a field of its own, such as "defaults.elastic.cooldown".
json flat_settings(const core::Tenant& tenant) {
  json settings = tenant_settings(tenant);
  const json defaults = std::move(settings["defaults"]);
  settings.erase("defaults");
  for (const std::string_view field : api::v1::kFieldsWithDefaults) {
    const auto at = api::v1::pointer_of_field(field);
    settings["defaults." + std::string(field)] = defaults.contains(at) ? defaults.at(at) : json(nullptr);
  }
  return settings;
}

SettingsDocument document_of(const core::TenantTree& tree) {
  SettingsDocument document{.of_all = tree_settings(tree), .entries = {}};
  const json churn = std::move(document.of_all["churn"]);
  document.of_all.erase("churn");
  for (const char* field : {"per_job", "pool", "window"}) {
    document.of_all[std::string("churn.") + field] = churn.is_null() ? json(nullptr) : churn.at(field);
  }
  for (const core::Tenant& tenant : tree.tenants) document.entries.push_back({tenant.name, flat_settings(tenant)});
  return document;
}

}  // namespace

json budget_settings(const core::Budget& budget) {
  json thresholds = json::array();
  for (const auto& [percent, action] : budget.thresholds) {
    thresholds.push_back({{"percent", percent}, {"action", core::to_text(action)}});
  }
  return {{"limit", to_text(budget.limit)},
          {"window", core::to_text(budget.window)},
          {"thresholds", std::move(thresholds)}};
}

json tree_settings(const core::TenantTree& tree) {
  json churn = nullptr;
  if (tree.churn) {
    churn = {{"per_job", or_null(tree.churn->per_job)},
             {"pool", or_null(tree.churn->pool)},
             {"window", to_text(tree.churn->window)}};
  }
  return {{"half_life", to_text(tree.half_life)},
          {"rebalance_every", to_text(tree.rebalance_every)},
          {"preempt_after", to_text(tree.preempt_after)},
          {"churn", std::move(churn)}};
}

json tenant_settings(const core::Tenant& tenant) {
  return {{"parent", tenant.parent.empty() ? json(nullptr) : json(tenant.parent)},
          {"guarantee", tenant.guarantee},
          {"guarantee_by_type", tenant.guarantee_by_type},
          {"weight", tenant.weight},
          {"borrow", or_null(tenant.borrow)},
          {"lend", or_null(tenant.lend)},
          {"priority_max", or_null(tenant.priority_max)},
          {"job_slots_max", or_null(tenant.job_slots_max)},
          {"job_price_max", tenant.job_price_max ? json(to_text(*tenant.job_price_max)) : json(nullptr)},
          {"job_grace_max", tenant.job_grace_max ? json(to_text(*tenant.job_grace_max)) : json(nullptr)},
          {"job_hold_max", tenant.job_hold_max ? json(to_text(*tenant.job_hold_max)) : json(nullptr)},
          {"jobs_max", or_null(tenant.jobs_max)},
          {"exclusive_nodes", tenant.exclusive_nodes},
          {"notice_extension", tenant.notice_extension ? json(to_text(*tenant.notice_extension)) : json(nullptr)},
          {"notice_refusal", tenant.notice_refusal ? json(to_text(*tenant.notice_refusal)) : json(nullptr)},
          {"preempt_after", to_text(tenant.preempt_after)},
          {"budget", tenant.budget ? budget_settings(*tenant.budget) : json(nullptr)},
          {"defaults", leader::defaults_document(*tenant.defaults)}};
}

Problem unknown_tenant(const std::string& name) {
  return {.status = 404,
          .code = "UnknownTenant",
          .detail = "there is no tenant " + name,
          .hint = "GET /v1/tenants lists those that this token may see"};
}

std::string tenants_etag(const core::TenantTree& tree) {
  return settings_etag(tenant_changes({}, tree));
}

json tenant_changes(const core::TenantTree& before, const core::TenantTree& after) {
  return settings_changes("tenant", document_of(before), document_of(after), flat_settings({}));
}

}  // namespace tidepool::live::http
