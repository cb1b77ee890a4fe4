#include "schedulerd/live/http/tenants/tenant_changes.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "api/v1/job_defaults.hpp"
#include "base/written.hpp"
#include "core/state/tenant_settings.hpp"
#include "schedulerd/leader/job_defaults.hpp"
#include "schedulerd/live/http/settings/settings_changes.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

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
    churn = {{"per_job", written(tree.churn->per_job)},
             {"pool", written(tree.churn->pool)},
             {"window", written(tree.churn->window)}};
  }
  return {{"half_life", written(tree.half_life)},
          {"rebalance_every", written(tree.rebalance_every)},
          {"preempt_after", written(tree.preempt_after)},
          {"churn", std::move(churn)}};
}

json tenant_settings(const core::Tenant& tenant) {
  json settings = {{"parent", tenant.parent.empty() ? json(nullptr) : json(tenant.parent)},
                   {"budget", tenant.budget ? budget_settings(*tenant.budget) : json(nullptr)},
                   {"defaults", leader::defaults_document(*tenant.defaults)}};
  core::for_each_setting([&](const auto& row) { settings[row.name] = written(tenant.*row.field); });
  return settings;
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
