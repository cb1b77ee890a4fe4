#include "schedulerd/leader/tenant_file.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "api/v1/job_defaults.hpp"
#include "schedulerd/leader/job_defaults.hpp"
#include "schedulerd/leader/tenant_values.hpp"

namespace tidepool::leader {
namespace {

using nlohmann::json;

constexpr std::size_t kNameMost = 63;

// As job files write a tenant.
bool is_name(const std::string& text) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !text.empty() && text.size() <= kNameMost && std::all_of(text.begin(), text.end(), fits);
}

class TreeReading {
 public:
  explicit TreeReading(TenantTreeFindings& findings) : findings_(findings) {}

  // Slots that tenants are guaranteed together.
  struct Promised {
    std::int64_t slots = 0;
    std::map<std::string, std::int64_t> by_type = {};
  };

  // What stands below a tenant, or below the pool.
  Promised read_level(const json& list, const std::string& pointer, const std::string& parent, std::size_t depth) {
    Promised promised;
    if (!list.is_array()) {
      fail(pointer, "WrongType", "tenants must be a list such as [{name: vision, guarantee: 4}]");
      return promised;
    }
    if (depth > core::kTenantDepthMost && !list.empty()) {
      fail(pointer, "OutOfRange",
           "tenants are nested deeper than " + std::to_string(core::kTenantDepthMost) + " levels");
      return promised;
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      const core::Tenant tenant = read_tenant(list[i], pointer + "/" + std::to_string(i), parent, depth);
      promised.slots += tenant.guarantee;
      for (const auto& [type, slots] : tenant.guarantee_by_type) promised.by_type[type] += slots;
    }
    return promised;
  }

 private:
  void fail(const std::string& pointer, std::string code, std::string message) {
    findings_.errors.push_back({pointer, std::move(code), std::move(message)});
  }

  core::Tenant read_tenant(const json& value, const std::string& pointer, const std::string& parent,
                           std::size_t depth) {
    ObjectReader in(value, pointer, findings_.errors);
    if (!value.is_object()) {
      if (value.is_null()) fail(pointer, "WrongType", "must be an object with named fields");
      return {};
    }
    const std::size_t errors_before = findings_.errors.size();
    core::Tenant tenant = read_fields(in, parent);
    const json budget = in.raw("budget");
    const json defaults = in.raw("defaults");
    const json below = in.raw("tenants");
    if (value.contains("parent")) refuse_parent(in);
    in.finish();
    const bool is_told = is_guarantee_told(in, errors_before);
    tenant.budget = read_budget(budget, in.pointer_of("budget"), findings_.errors);
    tenant.defaults = read_defaults(defaults, in.pointer_of("defaults"));
    check_name(in, tenant.name, pointer);
    findings_.tree.tenants.push_back(tenant);
    if (is_told) check_by_type(in, tenant);
    if (!below.is_null()) {
      const Promised promised = read_level(below, pointer + "/tenants", tenant.name, depth + 1);
      if (is_told) check_promised(in, tenant, promised);
    }
    return tenant;
  }

  core::JobDefaults read_defaults(const json& value, const std::string& pointer) {
    const std::size_t errors_before = findings_.errors.size();
    const json part = api::v1::read_job_defaults(value, pointer, findings_.errors);
    return findings_.errors.size() == errors_before ? to_core_defaults(part) : core::JobDefaults{};
  }

  // It stands so in the flat list that the API gives.
  static void refuse_parent(ObjectReader& in) {
    (void)in.raw("parent");
    in.fail("parent", "UnknownField",
            "is not a field here; write a tenant that lies below another in that one's list tenants, such as "
            "{name: lab, tenants: [{name: vision}]}");
  }

  // Else what is compared with it is not what is meant: it is wrong, or misspelt.
  [[nodiscard]] bool is_guarantee_told(const ObjectReader& in, std::size_t errors_before) const {
    const auto first = findings_.errors.begin() + static_cast<std::ptrdiff_t>(errors_before);
    return std::none_of(first, findings_.errors.end(), [&](const FieldError& error) {
      return error.code == "UnknownField" || error.pointer == in.pointer_of("guarantee") ||
             error.pointer == in.pointer_of("guarantee_by_type");
    });
  }

  static void check_by_type(ObjectReader& in, const core::Tenant& tenant) {
    std::int64_t together = 0;
    for (const auto& [type, slots] : tenant.guarantee_by_type) together += slots;
    if (together <= tenant.guarantee) return;
    in.fail("guarantee_by_type", "Invalid",
            "gives " + std::to_string(together) + " slots, of a guarantee of " + std::to_string(tenant.guarantee) +
                "; raise the guarantee or lower these");
  }

  static void check_promised(ObjectReader& in, const core::Tenant& tenant, const Promised& below) {
    const std::string mend = " slots together; raise it or lower theirs";
    if (below.slots > tenant.guarantee) {
      in.fail("guarantee", "Invalid",
              "is " + std::to_string(tenant.guarantee) + ", but the tenants below are guaranteed " +
                  std::to_string(below.slots) + mend);
    }
    for (const auto& [type, slots] : below.by_type) {
      const auto own = tenant.guarantee_by_type.find(type);
      const int has = own == tenant.guarantee_by_type.end() ? 0 : own->second;
      if (slots <= has) continue;
      in.fail("guarantee_by_type", "Invalid",
              "has " + std::to_string(has) + " of type " + type + ", but the tenants below are guaranteed " +
                  std::to_string(slots) + mend);
    }
  }

  static core::Tenant read_fields(ObjectReader& in, const std::string& parent) {
    core::Tenant tenant{.name = in.required_text("name"), .parent = parent};
    read_settings(in, tenant);
    return tenant;
  }

  void check_name(ObjectReader& in, const std::string& name, const std::string& pointer) {
    if (name.empty()) {
      if (in.has("name") && in.raw("name").is_string()) in.fail("name", "Invalid", "must not be empty");
      return;
    }
    if (!is_name(name)) in.fail("name", "Invalid", "must be 1 to 63 of a-z, 0-9 and -, as job files write a tenant");
    const auto [first, is_new] = places_.emplace(name, pointer);
    if (!is_new) {
      in.fail("name", "Invalid",
              "is \"" + name + "\", which " + first->second + " has too; names are unique in the tree");
    }
  }

  TenantTreeFindings& findings_;
  std::map<std::string, std::string> places_;  // the pointer of each name
};

bool is_document(const json& document, TenantTreeFindings& findings) {
  if (document.is_object()) return true;
  findings.errors.push_back({"", "WrongType", "the tenants must be an object with the field tenants"});
  return false;
}

// The field `tenants`, after which the document has no other.
void read_tenants(ObjectReader& in, const std::string& above, TenantTreeFindings& findings) {
  const json tenants = in.raw("tenants");
  in.finish();
  if (tenants.is_null()) {
    const std::string none = above.empty() ? "[] to end sharing by tenants" : "[] to have none below " + above;
    return in.fail("tenants", "Missing", "is needed: the list of tenants, or " + none);
  }
  TreeReading(findings).read_level(tenants, "/tenants", above, 1);
  if (findings.tree.tenants.size() > core::kTenantsMost) {
    in.fail("tenants", "OutOfRange", "has more than " + std::to_string(core::kTenantsMost) + " tenants");
  }
}

}  // namespace

TenantTreeFindings read_tenant_tree(const json& document) {
  TenantTreeFindings findings;
  if (!is_document(document, findings)) return findings;
  ObjectReader in(document, "", findings.errors);
  findings.tree.half_life = read_duration(in, "half_life", findings.tree.half_life);
  findings.tree.rebalance_every = read_duration(in, "rebalance_every", findings.tree.rebalance_every);
  findings.tree.preempt_after = read_delay(in, "preempt_after");
  const json churn = in.raw("churn");
  findings.tree.churn = read_churn(churn, in.pointer_of("churn"), findings.errors);
  read_tenants(in, "", findings);
  return findings;
}

TenantTreeFindings read_tenants_below(const json& document, const std::string& above) {
  TenantTreeFindings findings;
  if (!is_document(document, findings)) return findings;
  ObjectReader in(document, "", findings.errors);
  read_tenants(in, above, findings);
  return findings;
}

}  // namespace tidepool::leader
