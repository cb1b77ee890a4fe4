#include "core/tenants/tenant_subtree.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/refusals.hpp"

namespace tidepool::core {
namespace {

std::set<std::string_view> names_below(const TenantTree& tree, std::string_view above) {
  std::set<std::string_view> names;
  for (const Tenant& tenant : tree.tenants) {
    if (tenant.parent == above || names.contains(tenant.parent)) names.insert(tenant.name);
  }
  return names;
}

std::string limit_text(int number) {
  return std::to_string(number);
}
std::string limit_text(const auto& value) {
  return to_text(value);
}

// The limits on the way from the pool to a tenant: of each the nearest that sets it.
struct Limits {
  const Tenant* priority_max = nullptr;
  const Tenant* job_slots_max = nullptr;
  const Tenant* job_price_max = nullptr;
  const Tenant* job_grace_max = nullptr;
  const Tenant* job_hold_max = nullptr;
  const Tenant* jobs_max = nullptr;
  const Tenant* notice_extension = nullptr;
  const Tenant* notice_refusal = nullptr;
  const Tenant* borrow = nullptr;
  const Tenant* closes_no_nodes = nullptr;

  void add(const Tenant& tenant) {
    if (tenant.priority_max) priority_max = &tenant;
    if (tenant.job_slots_max) job_slots_max = &tenant;
    if (tenant.job_price_max) job_price_max = &tenant;
    if (tenant.job_grace_max) job_grace_max = &tenant;
    if (tenant.job_hold_max) job_hold_max = &tenant;
    if (tenant.jobs_max) jobs_max = &tenant;
    if (tenant.notice_extension) notice_extension = &tenant;
    if (tenant.notice_refusal) notice_refusal = &tenant;
    if (tenant.borrow) borrow = &tenant;
    if (!tenant.exclusive_nodes) closes_no_nodes = &tenant;
  }
};

template <class T>
Status check_limit(const Tenant& tenant, std::optional<T> Tenant::* limit, const Tenant* above, const char* name) {
  if (above == nullptr || !(tenant.*limit) || *(tenant.*limit) <= *(above->*limit)) return ok_status();
  return invalid_argument("tenant \"" + tenant.name + "\": " + name + " " + limit_text(*(tenant.*limit)) +
                          " is looser than the " + limit_text(*(above->*limit)) + " of tenant \"" + above->name +
                          "\", which limits it; set at most that, or leave it out");
}

Status check_borrow(const Tenant& tenant, const Tenant* above) {
  if (above == nullptr || !tenant.borrow) return ok_status();
  const std::int64_t most = std::int64_t{tenant.guarantee} + *tenant.borrow;
  const std::int64_t allowed = std::int64_t{above->guarantee} + *above->borrow;
  if (most <= allowed) return ok_status();
  return invalid_argument("tenant \"" + tenant.name + "\": guarantee and borrow are " + std::to_string(most) +
                          " slots, looser than the " + std::to_string(allowed) + " of tenant \"" + above->name +
                          "\"; set at most that, or leave borrow out");
}

Status check_exclusive(const Tenant& tenant, const Tenant* above) {
  if (above == nullptr || !tenant.exclusive_nodes) return ok_status();
  return invalid_argument("tenant \"" + tenant.name + "\": exclusive_nodes is not granted to tenant \"" + above->name +
                          "\" above it; leave it out, or ask an operator");
}

void check_limits(const Tenant& tenant, const Limits& above, Refusals& refusals) {
  refusals.add(check_limit(tenant, &Tenant::priority_max, above.priority_max, "priority_max"));
  refusals.add(check_limit(tenant, &Tenant::job_slots_max, above.job_slots_max, "job_slots_max"));
  refusals.add(check_limit(tenant, &Tenant::job_price_max, above.job_price_max, "job_price_max"));
  refusals.add(check_limit(tenant, &Tenant::job_grace_max, above.job_grace_max, "job_grace_max"));
  refusals.add(check_limit(tenant, &Tenant::job_hold_max, above.job_hold_max, "job_hold_max"));
  refusals.add(check_limit(tenant, &Tenant::jobs_max, above.jobs_max, "jobs_max"));
  refusals.add(check_limit(tenant, &Tenant::notice_extension, above.notice_extension, "notice_extension"));
  refusals.add(check_limit(tenant, &Tenant::notice_refusal, above.notice_refusal, "notice_refusal"));
  refusals.add(check_borrow(tenant, above.borrow));
  refusals.add(check_exclusive(tenant, above.closes_no_nodes));
}

int unlent(const Tenant& tenant) {
  return tenant.lend ? std::max(0, tenant.guarantee - *tenant.lend) : 0;
}

// Slots of guarantees that no other tenant may have: the tenant does not lend them, or one below it does not.
std::int64_t kept_below(const TenantTree& tree, std::string_view above) {
  std::map<std::string_view, std::int64_t> below;  // by parent
  for (auto tenant = tree.tenants.rbegin(); tenant != tree.tenants.rend(); ++tenant) {
    const std::int64_t kept = std::max(std::int64_t{unlent(*tenant)}, below[tenant->name]);
    below[tenant->parent] += std::min(kept, std::int64_t{tenant->guarantee});
  }
  return below[above];
}

}  // namespace

std::vector<Tenant> tenants_below(const TenantTree& tree, std::string_view above) {
  const auto names = names_below(tree, above);
  std::vector<Tenant> below;
  for (const Tenant& tenant : tree.tenants) {
    if (names.contains(tenant.name)) below.push_back(tenant);
  }
  return below;
}

TenantTree with_tenants_below(TenantTree tree, std::string_view above, const std::vector<Tenant>& below) {
  std::vector<Tenant> tenants;
  const auto names = names_below(tree, above);
  for (const Tenant& tenant : tree.tenants) {
    if (names.contains(tenant.name)) continue;
    tenants.push_back(tenant);
    if (tenant.name == above) tenants.insert(tenants.end(), below.begin(), below.end());
  }
  tree.tenants = std::move(tenants);
  return tree;
}

Status check_within(const TenantTree& tree, std::string_view above) {
  const auto path = tree.path_to(above);
  if (path.empty()) return not_found("there is no tenant " + std::string(above));
  Refusals refusals;
  Limits own;
  for (const Tenant* tenant : path) own.add(*tenant);
  std::map<std::string_view, Limits> limits{{above, own}};
  for (const Tenant& tenant : tree.tenants) {
    const auto parent = limits.find(tenant.parent);
    if (tenant.parent.empty() || parent == limits.end()) continue;
    check_limits(tenant, parent->second, refusals);
    Limits& of = limits[tenant.name] = parent->second;
    of.add(tenant);
  }
  const std::int64_t kept = kept_below(tree, above);
  const std::int64_t allowed = unlent(*path.back());
  if (kept > allowed) {
    refusals.add(invalid_argument("the tenants below \"" + std::string(above) + "\" would keep " +
                                  std::to_string(kept) +
                                  " slots of their guarantees from others (lend), more than the " +
                                  std::to_string(allowed) + " that it keeps itself; raise what they lend"));
  }
  return refusals.status();
}

}  // namespace tidepool::core
