#include "schedulerd/live/http/tenants/tenant_changes.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/v1/job_defaults.hpp"
#include "base/digest.hpp"
#include "base/json.hpp"
#include "base/time.hpp"
#include "schedulerd/leader/job_defaults.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;
using ByName = std::map<std::string, const core::Tenant*>;

ByName by_name(const core::TenantTree& tree) {
  ByName names;
  for (const core::Tenant& tenant : tree.tenants) names.emplace(tenant.name, &tenant);
  return names;
}

// Those of `tree` that the other has too.
json order_of(const core::TenantTree& tree, const ByName& other) {
  json names = json::array();
  for (const core::Tenant& tenant : tree.tenants) {
    if (other.contains(tenant.name)) names.push_back(tenant.name);
  }
  return names;
}

// Both have the same names. What a new tenant had before is null.
json changed_fields(const json& before, const json& after, bool is_new) {
  json fields = json::object();
  for (const auto& [name, value] : after.items()) {
    if (before.at(name) != value) fields[name] = {{"from", is_new ? json(nullptr) : before.at(name)}, {"to", value}};
  }
  return fields;
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

json change_of(json tenant, const char* change, json fields) {
  return {{"tenant", std::move(tenant)}, {"change", change}, {"fields", std::move(fields)}};
}

json of_all(const core::TenantTree& tree, json order) {
  return {{"half_life", to_text(tree.half_life)},
          {"rebalance_every", to_text(tree.rebalance_every)},
          {"order", std::move(order)}};
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

json tenant_settings(const core::Tenant& tenant) {
  const auto or_null = [](const auto& value) { return value ? json(*value) : json(nullptr); };
  return {{"parent", tenant.parent.empty() ? json(nullptr) : json(tenant.parent)},
          {"guarantee", tenant.guarantee},
          {"weight", tenant.weight},
          {"borrow", or_null(tenant.borrow)},
          {"lend", or_null(tenant.lend)},
          {"priority_max", or_null(tenant.priority_max)},
          {"job_slots_max", or_null(tenant.job_slots_max)},
          {"job_price_max", tenant.job_price_max ? json(to_text(*tenant.job_price_max)) : json(nullptr)},
          {"notice_extension", tenant.notice_extension ? json(to_text(*tenant.notice_extension)) : json(nullptr)},
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
  Digest digest;
  digest.mix(canonical_json(tenant_changes({}, tree)));
  return "\"" + digest.text() + "\"";
}

json tenant_changes(const core::TenantTree& before, const core::TenantTree& after) {
  const ByName old = by_name(before);
  const ByName kept = by_name(after);
  json changes = json::array();
  json fields = changed_fields(of_all(before, order_of(before, kept)), of_all(after, order_of(after, old)), false);
  if (!fields.empty()) changes.push_back(change_of(nullptr, "changed", std::move(fields)));
  for (const core::Tenant& tenant : before.tenants) {
    if (!kept.contains(tenant.name)) changes.push_back(change_of(tenant.name, "removed", json::object()));
  }
  const json defaults = flat_settings({});
  for (const core::Tenant& tenant : after.tenants) {
    const auto found = old.find(tenant.name);
    const bool is_new = found == old.end();
    fields = changed_fields(is_new ? defaults : flat_settings(*found->second), flat_settings(tenant), is_new);
    if (is_new || !fields.empty()) {
      changes.push_back(change_of(tenant.name, is_new ? "added" : "changed", std::move(fields)));
    }
  }
  return changes;
}

}  // namespace tidepool::live::http
